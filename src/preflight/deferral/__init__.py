"""Deferred runs: what they wait for, what happens when it comes, and the worker that looks (specification, 10)."""
