"""Writes the generated pages: `python -m skyrl_doctor.docs`."""
