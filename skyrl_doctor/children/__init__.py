"""Programs that run in a child process, under the doctor's own or the training interpreter.

Each uses the standard library and what it is there to ask, runs under Python 3.8, prints one JSON object,
and imports nothing of the doctor.
"""
