"""The engine: it defines checks and probes, gathers facts and runs checks. It depends on no single check or machine."""
