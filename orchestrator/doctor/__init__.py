"""`modescope doctor`: looks at every part, and says what to do about what it finds."""
