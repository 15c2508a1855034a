"""Evidence of tampering: a chain under each key, a tree over the whole log, signed heads, and the check of all three.

Theory of operation
-------------------
Each record names the digest of the one before it under its action key, inside the bytes that are hashed and
signed. So an edit breaks the record's own seal, and a removal or a reordering breaks the link of the next one.
What no chain shows is the end: a log that was cut off is a valid shorter log. Therefore the digests of all
records, in the order of the log, are the leaves of one hash tree (RFC 6962), and its root can be exported as
a signed head and kept elsewhere. A log that does not begin with what a head saw was changed or cut off.

This makes tampering evident, and prevents nothing: whoever holds the file and every key can write another history,
and only a head kept out of their reach shows it.
"""

from __future__ import annotations

from preflight.audit.findings import Finding, Report
from preflight.audit.head import Head, head_of, read_head, signed_head
from preflight.audit.tree import Tree
from preflight.audit.verify import verify

__all__ = ["Finding", "Head", "Report", "Tree", "head_of", "read_head", "signed_head", "verify"]
