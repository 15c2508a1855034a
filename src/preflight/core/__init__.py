"""The decision, as pure functions: no I/O, no clock, no randomness, no logging (R-11)."""
