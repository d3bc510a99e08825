"""The training package. It owns the rules for its own behaviour, which the doctor's checks use."""
