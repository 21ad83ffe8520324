"""Settings of a node: a pure plan from facts and wishes, its order, and the hands that carry it out."""
