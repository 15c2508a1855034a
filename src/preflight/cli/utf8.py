"""Text from outside that is no valid UTF-8: refused before it is stored, signed or sent anywhere (R-11)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from preflight.errors import InvalidInput

_OURS = "PREFLIGHT_"


def check_arguments(arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    """Raise InvalidInput for an argument, or a variable of ours, that is no valid UTF-8.

    What stands behind `--` is another program's command, and is handed on as it is.
    """
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    for at, argument in enumerate(own):
        option = own[at - 1] if at and own[at - 1].startswith("-") and not argument.startswith("-") else ""
        check_text(option or f"argument {at + 1}", argument)
    check_variables((name for name in environment if name.startswith(_OURS)), environment)


def check_variables(names: Iterable[str], environment: Mapping[str, str]) -> None:
    """Raise InvalidInput for one of these environment variables that is no valid UTF-8."""
    for name in names:
        check_text(name, environment.get(name, ""))


def check_text(where: str, text: str) -> None:
    """Raise InvalidInput for text that Python took from bytes which are no valid UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        shown = text.encode(errors="backslashreplace").decode()
        raise InvalidInput(where, f"`{shown}` is no valid UTF-8", "write it in UTF-8") from None
