"""`modescope counters`: how a table is read, models and their tables, the ten methods compared."""
