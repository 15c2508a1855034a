"""The programs in which people work with agents: their hooks bring the user's words, and can stop a call early.

What a hook runs (`entry`, `receive`, `events`, `answers`, `store`) uses the standard library alone: a host starts
it before every prompt and every call, so it has to be there in a moment.
"""
