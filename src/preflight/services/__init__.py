"""What rules need done, each once and through the guard: measurements, what words select of them, limits over the log.

Nothing here decides, and nothing calls a tool that acts. `service.Services` is what the core asks; the other modules do
one thing each for it.
"""
