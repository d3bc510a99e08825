"""Programs that run in a child process with the doctor's or the training interpreter.

Each program uses the standard library and the packages that it examines, runs under Python 3.8, prints one JSON object,
and imports nothing of the doctor.
"""
