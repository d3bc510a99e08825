"""One process imports torch, verl and vLLM; the workers of a run are forked from it instead of importing them again.

Ray starts each worker, and vLLM each engine, as a Python of its own, one after the other: on a GPU node each imports for 10 to
20 seconds. Here they are started as `launcher`, which asks the `server` for a copy of itself and hands over its words,
environment, directory and open files; `child` is what the copy does with them. A launcher that gets no copy becomes an ordinary
Python, so a node without a server, or a server that ended, costs only the time.
"""
