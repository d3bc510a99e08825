"""Measures what verl and vLLM really use of a GPU's memory, configuration by configuration.

`python -m benchmarks.calibration` drives verl's own workers in one process, with models of real shapes and random
weights, and writes one JSON line for each run. skyrl_train/memory is held against these lines by evaluate.py.
"""
