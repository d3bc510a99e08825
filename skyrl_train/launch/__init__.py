"""Makes two jobs from one configuration: pure functions plan and render them; then they are submitted or run here.

plan (jobs.py) -> render (render.py) -> submit (launch.py) or run here (local.py). In each job supervise.py passes
the gate, runs the command and ends it. The jobs exchange files in the job directory (directory.py).
"""
