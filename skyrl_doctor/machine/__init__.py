"""The only access to the outside: the doctor reads files, runs commands and fetches URLs through a Machine."""
