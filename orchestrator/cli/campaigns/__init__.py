"""What is done with campaigns: designed, submitted, watched, measured again, taken home."""
