"""Re-exports `record`: doctor and trainer make their records in the same way (docs/adr/0008-records.md)."""

from skyrl_train.contracts.record import record

__all__ = ["record"]
