"""Tasks: rows of R2E-Gym, of SWE-bench and of SkyRL's own files, read into one type and written as verl wants them."""
