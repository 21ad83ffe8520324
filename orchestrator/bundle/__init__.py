"""A campaign as one file: data, study, verdicts, versions, checksums; `modescope import` restores it.

`writing` makes it, piece by piece, of what the store's ports tell; `reading` verifies it and makes of it what
`imports.recording` takes. `parts` says what is in it.
"""
