"""What can be wrong with a model of counters. The docstring of a class is its default message."""

from analysis.errors import AnalysisError


class TooFewSamplesError(AnalysisError):
    """There are too few samples for a model."""


class NoSuchColumnError(AnalysisError):
    """No counter, target or label has this name."""


class OutsideRangeError(AnalysisError):
    """The change leads outside the range of the data."""


class MissingLibraryError(AnalysisError):
    """A library that this method needs is not installed."""
