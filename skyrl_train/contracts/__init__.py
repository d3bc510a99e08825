"""Agreements between the doctor and the trainer. Pure: no module here imports another part of skyrl_train."""
