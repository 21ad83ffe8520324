"""What a page shows: gathered from the store once, as one frozen value a page."""
