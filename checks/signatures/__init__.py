"""Signatures of failures that have no check beside which they could stand."""
