"""The driver process: Ray, verl's trainer and the agent loops. `skyrl-train train` starts it by `begin`, and watches it."""

import faulthandler
import os
import signal
import sys
import traceback

import ray
import transfer_queue

from skyrl_train.checkpoints.places import checkpoint_root
from skyrl_train.checkpoints.resume import Resume, resume_from
from skyrl_train.config.run import RunConfig
from skyrl_train.contracts.errors import TrainError, UsageError
from skyrl_train.contracts.run_log import say, say_cause
from skyrl_train.rl import ray_start
from skyrl_train.rl.ahead import import_ahead
from skyrl_train.rl.forks.start import Forks
from skyrl_train.rl.loops import agent_loops
from skyrl_train.rl.overrides import Place, overrides
from skyrl_train.rl.phases import END, START, phase
from skyrl_train.rl.settings import composed, write_agent_loops
from skyrl_train.rl.shared import shared
from skyrl_train.rl.trainer import MODES, StoppedError, Trainer, Warned
from skyrl_train.rl.weight_probe import WeightProbe

END_S = 60.0
FORKS_END_S = 5.0
STOPPED = 75
"""Exit status of a run that saved after a warning and can be resumed: EX_TEMPFAIL."""


def main(job_dir: str, work_dir: str, forks: Forks | None) -> int:
    warned = Warned()
    warned.listen()
    faulthandler.register(signal.SIGUSR2, all_threads=True)  # the watchman asks for the stacks of a hanging driver
    config = shared(job_dir).config
    write_agent_loops(job_dir)
    trainer, begun = None, False
    try:
        with phase(START, config.trainer.phase_timeout_s):
            place = Place(job_dir, work_dir)
            settings = composed(overrides(config, place, resumed(config, place).overrides))
            proof = ray_start.begin(settings, config, forks)
            import_ahead()
            transfer_queue.init(settings.transfer_queue)
            proof.hold()
            trainer = MODES[config.trainer.mode](config=settings)
            trainer.ready(config.trainer.phase_timeout_s, warned, WeightProbe if config.trainer.prove_weights else None)
            loops = agent_loops(
                config.rollout.agent_workers,
                config=settings,
                llm_client=trainer.get_llm_client(),
                teacher_client=trainer.get_teacher_client(),
                reward_loop_worker_handles=trainer.get_reward_handles(),
            )
        begun = True
        trainer.fit(loops)
        status = 0
    except StoppedError as stopped:
        say(str(stopped))
        status = STOPPED
    except TrainError as error:
        say_cause(error)
        status = (
            2 if isinstance(error, UsageError) and not begun else 1
        )  # a full disk during training is not a usage error
    with phase(END, END_S):
        close(trainer, status)
    return status


def resumed(config: RunConfig, place: Place) -> Resume:
    """The checkpoint to resume from; logs it before verl loads it."""
    found = resume_from(
        checkpoint_root(config, place.work_dir),
        mode=config.trainer.resume,
        named=None if config.trainer.resume_from is None else place.of(config.trainer.resume_from),
        ranks=config.trainer_devices,
        critic=config.needs_critic,
        end=config.trainer.steps,
    )
    for line in found.notes:
        say(line)
    return found


def close(trainer: Trainer | None, status: int) -> None:
    """Flushes the trackers. The watchman ends the processes, which is faster than Ray's shutdown."""
    tracking = getattr(trainer, "logger", None)  # FIX(TRN002): verl's metrics tracker; it logs no messages
    if tracking is not None:
        tracking.finish(exit_code=status)
    ray.shutdown()


def leave(job_dir: str, work_dir: str, forks: Forks | None) -> None:
    """Runs the driver and ends the process at once, since threads of Ray, vLLM and the loops may never end."""
    status = 1
    try:
        status = main(job_dir, work_dir, forks)
    except BaseException:  # noqa: BLE001 -- the process ends after any error
        traceback.print_exc()
    if forks:
        forks.end(FORKS_END_S)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
