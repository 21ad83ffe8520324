"""The REST door under /api/v1: one router per noun, problem details for errors, a bearer token for everything."""
