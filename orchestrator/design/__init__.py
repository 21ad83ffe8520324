"""Study file -> validated study -> settings and configurations -> jobs in order -> submission."""
