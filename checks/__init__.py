"""One known failure a file, found through the entry-point group skyrl_doctor.checks."""
