"""Logs of jobs: scheduler, Darshan and file system, joined; and tables of such jobs."""
