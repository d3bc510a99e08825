"""Reports the pass rates of a validation: a line of the log, and a line of JSON in the job directory."""

import json
import os
from collections.abc import Sequence

from skyrl_train.contracts.agent.pass_rates import Outcome, as_json, by_repository, described, pass_rates
from skyrl_train.contracts.amount import amount
from skyrl_train.contracts.files import append_line
from skyrl_train.contracts.job_files import VALIDATION
from skyrl_train.contracts.run_log import say


def report(job_dir: str, step: int, outcomes: Sequence[Outcome], *, samples: int) -> None:
    """pass@1, and pass@k of `samples` rollouts a task. A full disk loses the line of JSON, not the run."""
    ks = sorted({1, samples})
    rates = pass_rates(outcomes, ks)
    failed = f"; infrastructure failed {amount(rates.without_result, 'rollout')}" if rates.without_result else ""
    say(f"validation of step {step}: {described(rates) or 'no result'} of {amount(rates.tasks, 'task')}{failed}")
    repositories = {name: as_json(each) for name, each in by_repository(outcomes, ks).items()}
    line = {"step": step, **as_json(rates), "repositories": repositories}
    try:
        append_line(os.path.join(job_dir, VALIDATION), json.dumps(line) + "\n")
    except OSError as error:
        say(f"the validation of step {step} could not be written: {error}")
