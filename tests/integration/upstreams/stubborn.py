"""A server as old ones are: what is no handshake ends it. `--list` says what it answers when asked for its tools."""

from __future__ import annotations

import json
import sys
from typing import Any

LIST: dict[str, Any] = json.loads(sys.argv[sys.argv.index("--list") + 1])
INFO = {"name": "old\u202e\u001b[31m", "version": "0"}

greeted = False
for line in sys.stdin:
    message = json.loads(line)
    method, identifier = message.get("method"), message.get("id")
    if method == "initialize":
        greeted = True
        result = {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "serverInfo": INFO}
        answer = {"result": result}
    elif not greeted:
        sys.exit(1)
    else:
        answer = LIST
    if identifier is not None:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": identifier, **answer}) + "\n")
        sys.stdout.flush()
