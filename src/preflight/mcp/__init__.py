"""Speaking MCP; needs the extra `mcp` and is imported by nothing but what needs it."""
