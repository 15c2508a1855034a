"""The hash tree over the log, as in RFC 6962, section 2.1: built leaf by leaf, in constant memory but for the peaks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

EMPTY = hashlib.sha256().digest()


def leaf_hash(data: bytes) -> bytes:
    """Return the hash of a leaf: the 0 keeps leaves and nodes apart."""
    return hashlib.sha256(b"\0" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of an inner node."""
    return hashlib.sha256(b"\1" + left + right).digest()


class Tree:
    """A growing tree. `peaks` are the roots of its complete subtrees, the largest and oldest first."""

    def __init__(self, leaves: Iterable[bytes] = ()) -> None:
        """Begin with these leaves."""
        self.size = 0
        self.peaks: list[bytes] = []
        for data in leaves:
            self.append(data)

    def append(self, data: bytes) -> None:
        """Add a leaf at the end."""
        node = leaf_hash(data)
        size = self.size
        while size & 1:
            node = node_hash(self.peaks.pop(), node)
            size >>= 1
        self.peaks.append(node)
        self.size += 1

    def root(self) -> bytes:
        """Return the hash over all leaves so far."""
        if not self.peaks:
            return EMPTY
        node = self.peaks[-1]
        for peak in reversed(self.peaks[:-1]):
            node = node_hash(peak, node)
        return node


def spans(size: int) -> list[tuple[int, int]]:
    """Return which leaves stand under each peak of a tree of this size, as half-open ranges."""
    found, start = [], 0
    for bit in reversed(range(size.bit_length())):
        if size >> bit & 1:
            found.append((start, start + (1 << bit)))
            start += 1 << bit
    return found
