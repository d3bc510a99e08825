"""Two jobs from one configuration: planned and rendered by pure functions, then submitted or run here.

plan (jobs.py) -> render (render.py) -> submit (submit.py) or run here (local.py). In each job supervise.py gates, runs
and ends what the job is for. All of them meet in the job directory (directory.py).
"""
