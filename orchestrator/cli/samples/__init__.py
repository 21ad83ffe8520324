"""What is asked of samples in files, some of it of campaigns as well."""
