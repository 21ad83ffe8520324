"""What becomes of a study: which are let in, who does what, what is measured again."""
