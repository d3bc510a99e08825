"""The records of the doctor are those of the rules that it reads: one module makes both (docs/adr/0008-records.md)."""

from skyrl_train.contracts.record import record

__all__ = ["record"]
