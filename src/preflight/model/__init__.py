"""The values everything else speaks in: frozen, with no behaviour but checking themselves."""
