"""What can be wrong with a request to the analysis. The docstring of a class is its default message."""


class AnalysisError(ValueError):
    """The sample cannot be analysed."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or type(self).__doc__)


class BadSampleError(AnalysisError):
    """The sample holds no usable numbers."""


class BadOptionsError(AnalysisError):
    """The analysis options are not valid."""


class NoStandardErrorError(AnalysisError):
    """The standard error of this quantile is not defined for this fit."""
