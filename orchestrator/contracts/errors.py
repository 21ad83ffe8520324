"""Every error a part of Modescope raises on purpose.

The class docstring is the default message. A message is one line: what was wrong, where, what to do next.
"""


class ModescopeError(Exception):
    """Something went wrong inside Modescope."""

    exit_status = 1

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())

    def __str__(self) -> str:
        return " ".join(str(self.args[0]).split())


class UserError(ModescopeError):
    """The request cannot be carried out as it stands."""

    exit_status = 2


class StudyError(UserError):
    """The study file does not describe a study."""


class DesignTooLargeError(StudyError):
    """The design has too many configurations; use fewer levels, or more blocks with fewer levels each."""


class TableError(UserError):
    """The table cannot be read as samples."""


class OutputError(UserError):
    """The benchmark's output cannot be read."""


class NotFoundError(UserError):
    """There is no such thing here."""


class ConflictError(UserError):
    """The request contradicts what is already stored."""


class NotAllowedError(UserError):
    """The service wants a valid bearer token: set MODESCOPE_TOKEN, or --home to a home whose endpoint.json holds it."""


class ForbiddenError(UserError):
    """This token does not cover that."""


class RequestError(UserError):
    """A parameter of the request cannot be used."""


class TooManyError(UserError):
    """Too many requests of this kind; wait a moment."""


class UnavailableError(UserError):
    """The service does not answer; start it with `modescope up`."""


class HomeError(UserError):
    """This home folder cannot be used."""


class InventoryError(UserError):
    """The node's inventory file cannot be used."""


class MissingPartError(UserError):
    """A part this needs is not on the machine."""


def missing_extra(what: str, extra: str) -> MissingPartError:
    """A library that only some installations have: `what` needs it, and `extra` of pyproject.toml brings it."""
    return MissingPartError(f"{what}: install the extra `{extra}` (make install EXTRAS={extra})")


class SchemaError(UserError):
    """The database has another schema than this version of Modescope; run `modescope db upgrade`."""


class RightsError(ModescopeError):
    """The database does not let this role do that; `modescope rights` makes the roles."""


class JobFailure(ModescopeError):  # noqa: N818 - a failure is the field's word, and it is a value of the ledger
    """A job could not be carried out; `kind` says whose fault it is (contracts.jobs.FailureKind)."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = str(self)
