"""What the doctor, the checks and the parts of the trainer agree on: names, formats, records and pure rules.

The doctor and the checks import only `config`, `memory`, `node` and this package, and these four import nothing else
of the trainer.
"""
