"""Secret values taken out of texts and JSON values, in every form in which they are likely to turn up (R-78).

Pure: what is secret is handed in, what comes out holds none of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import quote, quote_plus

from preflight.model.json_value import CONFIRMED_BY, is_number, value_digest
from preflight.model.pointer import Path
from preflight.model.sealed import MASK

SURE: Final = 4
"""Code points from which on a secret is looked for inside words too; shorter ones only between boundaries."""


class Needles:
    """Secret values of one run, and the search for them."""

    def __init__(self, values: Iterable[object] = ()) -> None:
        """Look for these JSON values: their strings and numbers, and the digests by which they are confirmed."""
        texts: set[str] = set()
        for value in values:
            texts |= _forms(value)
        self.texts = frozenset(texts)
        self._pattern = _pattern(self.texts)

    def __bool__(self) -> bool:
        return self._pattern is not None

    def mask(self, text: str) -> str:
        """Return a text with every secret in it replaced by the mask."""
        return text if self._pattern is None else self._pattern.sub(MASK, text)

    def blot(self, text: str) -> str:
        """Return a text of the same length in which secrets are blotted out, so that places in it stay true."""
        return text if self._pattern is None else self._pattern.sub(lambda found: "•" * len(found[0]), text)

    def holds(self, value: object) -> bool:
        """Whether a string or a number is a secret, or holds one."""
        if self._pattern is None:
            return False
        if type(value) is str:
            return self._pattern.search(value) is not None
        if isinstance(value, float):  # one of a type of its own may be written otherwise, too
            return bool((_numerals(value) | _numerals(float(value))) & self.texts)
        return is_number(value) and bool(_numerals(value) & self.texts)

    def masked(self, value: object) -> object:
        """Return a copy of a JSON value without the secrets in it; what is no JSON value goes by its `repr`."""
        if self._pattern is None:
            return value
        if isinstance(value, Mapping):
            return {self.mask(key) if type(key) is str else key: self.masked(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.masked(item) for item in value]
        if type(value) is str:
            return self.mask(value)
        if value is None or type(value) is bool:
            return value
        if is_number(value) or isinstance(value, float):
            return MASK if self.holds(value) else value
        return self.mask(_shown(value))

    def __repr__(self) -> str:
        return f"<Needles: {len(self.texts)} forms>"


def leaves(value: object) -> Iterable[object]:
    """Yield the strings and numbers of a JSON value; its keys are names and no values."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from leaves(item)
    elif type(value) is str or is_number(value):
        yield value


def _forms(value: object) -> set[str]:
    """Return the texts by which a value could be told: written plainly, in JSON, in an address, or digested."""
    forms: set[str] = set()
    for leaf in leaves(value):
        plain = _numerals(leaf) if is_number(leaf) else {str(leaf), str(leaf).strip()}
        for text in plain:
            forms |= {text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1], repr(text)[1:-1]}
            forms |= {quote(text, safe=""), quote_plus(text)}
    try:
        digest = value_digest(value)  # a plain digest of a short value is as good as the value
        forms |= {digest, digest[:CONFIRMED_BY]}
    except Exception:  # noqa: BLE001  what has no JSON form has no digest either
        return forms - {""}
    return forms - {""}


def _numerals(number: object) -> set[str]:
    """Return how a number may be written: exactly, without a fraction that is zero, grouped."""
    texts = {str(number), repr(number)}
    if isinstance(number, float) and number.is_integer():
        texts.add(str(int(number)))
    if isinstance(number, int) and number >= 1000:
        texts |= {f"{number:,}", f"{number:_}", f"{number:,}".replace(",", "."), f"{number:,}".replace(",", " ")}
    return texts


def _pattern(texts: Iterable[str]) -> re.Pattern[str] | None:
    parts = [
        re.escape(text) if len(text) >= SURE else rf"(?<![^\W_]){re.escape(text)}(?![^\W_])"
        for text in sorted(texts, key=lambda text: (-len(text), text))
    ]
    return re.compile("|".join(parts), re.IGNORECASE) if parts else None


def _shown(value: object) -> str:
    try:
        return repr(value)
    except Exception:  # noqa: BLE001  an object that cannot show itself shows nothing
        return f"<{type(value).__name__}>"


def hidden(value: object, path: Path) -> object:
    """Return a copy of a JSON value with what stands at `path` replaced by the mask; absent, it stays as it is."""
    if not path:
        return MASK
    step, rest = path[0], path[1:]
    if isinstance(value, Mapping) and step in value:
        return {key: hidden(item, rest) if key == step else item for key, item in value.items()}
    if isinstance(value, list | tuple) and str(step).isdigit() and int(step) < len(value):
        return [hidden(item, rest) if at == int(step) else item for at, item in enumerate(value)]
    return value


NO_NEEDLES: Final = Needles()
