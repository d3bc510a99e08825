"""The keys that prime-rl and SkyRL accept, read from the source of their configuration classes. Nothing is imported."""
