"""The training package that the doctor was born with; it owns every rule about its own behaviour."""
