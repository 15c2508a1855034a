"""One family of errors, typed by who is at fault. A decision never raises: it holds (R-11, R-31)."""

from __future__ import annotations

NO_RULES = "give them: `preflight --rules PATH ...`, PREFLIGHT_RULES, or `create_preflight(rules=...)`"
"""What to do where something was decided under rules, and none are given."""
NO_CONNECTIONS = "give one: `--connections FILE`, PREFLIGHT_CONNECTIONS, or `create_preflight(read_tool=...)`"
"""What to do where rules measure at a server, and nothing leads there."""


def to_settle(decision_id: str) -> str:
    """Say what to do about a run that has no outcome and keeps others waiting (R-75, R-77)."""
    return (
        "if it does not end by itself, `preflight in-doubt` lists it; a person finds out what came of it, and "
        f"`preflight settle {decision_id}` with the outcome lets others run"
    )


_LONGEST = 1_000  # code points of a foreign text that are worth keeping


def describe(fault: BaseException) -> str:
    """Return the type and the text of a fault, fit to be stored, whatever its own `__str__` does."""
    try:
        text = f"{type(fault).__name__}: {fault}"
    except Exception:  # noqa: BLE001  a fault that cannot say what it is, is still a fault
        text = f"{type(fault).__name__}: a fault without a readable text"
    return storable(text)


def innermost(fault: BaseException) -> BaseException:
    """Return the first fault of a group, which says what went wrong."""
    while isinstance(fault, BaseExceptionGroup):
        fault = fault.exceptions[0]
    return fault


def storable(text: str, longest: int = _LONGEST) -> str:
    """Return a foreign text cut to `longest` code points, with lone surrogates written as escapes."""
    return text[:longest].encode(errors="backslashreplace").decode()


class PreflightError(Exception):
    """Base of every error this package raises on purpose."""


class CallerError(PreflightError):
    """The calling program did something it must not."""


class InvalidInput(CallerError):
    """A request, file or argument is malformed; `where` is the key or place, in dotted or pointer form."""

    def __init__(self, where: str, what: str, do: str = "") -> None:
        """Say what is wrong at `where` and what to `do` about it."""
        self.where = where
        self.what = what
        super().__init__(f"`{where}`: {what}" + (f"; {do}" if do else ""))


class ConstructionError(CallerError):
    """`create_preflight` was given hooks or storage that cannot work (R-100)."""


class NotExecutable(CallerError):
    """Execution was asked for something that no record allows; `code` names the reason."""

    def __init__(self, code: str, what: str) -> None:
        """Keep the stable `code` beside the sentence."""
        self.code = code
        super().__init__(what)


class AnswerRefused(CallerError):
    """An answer does not fit the question it was given to (R-91)."""


class HookError(PreflightError):
    """A hook raised, hung or returned what it may not; only ever seen in diagnostics."""


class ProviderError(PreflightError):
    """The tool's server refused the call, and said that nothing happened.

    A caller's tool function raises this to make the outcome `failed`; anything that leaves open
    whether the call took effect is recorded as `in_doubt` instead (R-76).
    """


class StorageError(PreflightError):
    """The record store could not do what it must; nothing was executed on its account."""


class SignatureInvalid(PreflightError):
    """A stored decision does not verify against its signature."""


class VaultError(StorageError):
    """A secret value cannot be encrypted or opened; where it had to be encrypted, nothing was stored."""


class Erased(VaultError):
    """The key of a person was destroyed: their secret values cannot be read any more, by anybody."""
