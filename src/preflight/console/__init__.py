"""Pages for the person, on this machine alone: open questions and deferred runs; needs the extra `console`."""
