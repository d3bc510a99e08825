"""Which logs are of one Slurm job."""

from pathlib import Path

import pytest

from skyrl_doctor.logs.read.job_groups import LAUNCH_FILES, JobLogs, group_by_job, newest_first
from skyrl_doctor.logs.read.slurm_job import JobWords

NOTHING = JobWords()
Groups = list[tuple[str, list[str]]]


def printed(*ids: str, task: str = "", continues: str = "") -> JobWords:
    return JobWords(frozenset(ids), task, frozenset({continues} - {""}))


def groups(words: dict[str, JobWords]) -> Groups:
    return [(job.slurm_id, list(job.files)) for job in group_by_job(words)]


def test_the_ending_does_not_part_the_streams_of_a_job() -> None:
    words = {"d/a.err": NOTHING, "d/a.out": printed("501"), "d/b.err": NOTHING, "d/b.out": printed("502")}
    assert groups(words) == [("502", ["d/b.err", "d/b.out"]), ("501", ["d/a.err", "d/a.out"])]


@pytest.mark.parametrize("name", ["ray_client_server_23000.out", "run_ctx_4096.out", "ckpt/2048.out", "seed_1234.out"])
def test_a_number_of_another_kind_does_not_part_the_logs_of_a_job(name: str) -> None:
    words = {"d/slurm-81230.out": NOTHING, f"d/{name}": NOTHING}
    assert groups(words) == [("81230", list(words))]


@pytest.mark.parametrize(
    "name", ["train_{}.log", "grpo-multinode-{}.out", "multi_gpu_{}.out", "export_{}.txt", "score_{}.out", "o{}.out"]
)
def test_ordinary_names_part_jobs(name: str) -> None:
    one, two = f"d/{name.format(81230)}", f"d/{name.format(81231)}"
    assert groups({one: NOTHING, two: NOTHING}) == [("81231", [two]), ("81230", [one])]


@pytest.mark.parametrize(
    "name",
    [
        "swe-agent-{}.out",
        "vllm_server_{}.out",
        "grpo-8b-ctx-{}.err",
        "{}-server.out",
        "multi-step-{}.out",
        "{}_n01.out",
    ],
)
def test_streams_whose_names_differ_in_a_number_alone_are_jobs(name: str) -> None:
    one, two, certain = f"d/{name.format(81230)}", f"d/{name.format(81231)}", "d/slurm-81229.out"
    assert groups({one: NOTHING, two: NOTHING, certain: NOTHING}) == [
        ("81231", [two]),
        ("81230", [one]),
        ("81229", [certain]),
    ]


def test_streams_of_small_clusters_have_short_ids() -> None:
    words = {"d/train-4321.out": NOTHING, "d/train-4322.out": NOTHING, "d/train-4322.err": NOTHING}
    assert groups(words) == [("4322", ["d/train-4322.out", "d/train-4322.err"]), ("4321", ["d/train-4321.out"])]


@pytest.mark.parametrize(
    ("one", "two"),
    [("slurm-4300.out", "train-4321.out"), ("eval-4300.out", "train-4321.out"), ("a-81230.out", "swe-agent-81231.out")],
)
def test_streams_of_other_names_are_jobs_too(one: str, two: str) -> None:
    assert [list(job.files) for job in group_by_job({one: NOTHING, two: NOTHING})] == [[two], [one]]


@pytest.mark.parametrize("name", ["exp-2048.out", "node-1234.out", "seed_1234.out"])
def test_a_short_number_of_a_stream_that_counts_something_is_no_id(name: str) -> None:
    words = {"d/slurm-81230.out": NOTHING, f"d/{name}": NOTHING}
    assert groups(words) == [("81230", list(words))]


@pytest.mark.parametrize("name", ["rank_{}.out", "worker-0c1f-01000000-{}.out", "ray/session_latest/logs/gcs-{}.out"])
def test_streams_of_the_processes_of_a_job_are_not_parted(name: str) -> None:
    words = {f"d/{name.format(9912)}": NOTHING, f"d/{name.format(9913)}": NOTHING, "d/slurm-81230.out": NOTHING}
    assert groups(words) == [("81230", list(words))]


def test_a_stream_that_speaks_of_another_job_is_not_of_it() -> None:
    words = {"d/train-81230.out": NOTHING, "d/train-81231.out": printed("81230")}
    assert groups(words) == [("81231", ["d/train-81231.out"]), ("81230", ["d/train-81230.out"])]


@pytest.mark.parametrize(
    "name",
    [
        "ray/session_2026-11-23_21-19-58_128000_45146/logs/worker-aa00bb-01000000-777.err",
        "ray/session_2026-11-23_21-19-58_128000_4514/logs/raylet.out",
        "ray/session_2026-11-23_21-19-58_128000_45146/logs/agent-42423.out",
        "nccl.node07.82000.log",
        "django__django-11099.log",
        "eval_10000.log",
        "math_500_12345.log",
        "gpu-node-10123.log",
        "prompts-12800.log",
        "vllm-10.1.20.12345.log",
        "reward_1123_101112.log",
        "slurm_20261123.log",
        "test-slurm24.log",
    ],
)
def test_a_number_of_a_program_beside_a_job_makes_no_job(name: str) -> None:
    words = {"d/slurm-81230.out": NOTHING, f"d/{name}": NOTHING}
    assert groups(words) == [("81230", list(words))]


@pytest.mark.parametrize(
    "name", ["nccl.node07.{}.log", "nccl-node07-{}.log", "django__django-{}.log", "vllm-10.1.20.{}.log"]
)
def test_logs_that_programs_number_are_no_jobs(name: str) -> None:
    words = {f"d/{name.format(81230)}": NOTHING, f"d/{name.format(81231)}": NOTHING}
    assert groups(words) == [("", list(words))]


def test_logs_that_differ_in_a_number_are_jobs_if_a_known_id_is_among_the_numbers() -> None:
    evals = {"d/eval_10000.log": NOTHING, "d/eval_12000.log": NOTHING}
    assert groups({"d/slurm-81230.out": NOTHING, **evals}) == [("81230", ["d/slurm-81230.out", *evals])]
    trains = {"d/train_81229.log": NOTHING, "d/train_81230.log": printed("81230")}
    assert [job.slurm_id for job in group_by_job({**trains, "d/env.log": NOTHING})] == ["81230", "81229", ""]


@pytest.mark.parametrize("name", ["run-812/train.log", "exp_81230/train.log"])
def test_a_lone_number_of_a_directory_is_no_job(name: str) -> None:
    assert groups({f"d/{name}": NOTHING, "d/x.log": NOTHING}) == [("", [f"d/{name}", "d/x.log"])]


def test_directories_that_differ_in_a_number_are_jobs() -> None:
    words = {"d/exp_81230/train.log": NOTHING, "d/exp_81231/train.log": NOTHING}
    assert [job.slurm_id for job in group_by_job(words)] == ["81231", "81230"]


@pytest.mark.parametrize("name", ["slurm_{}.log", "train_{}.out"])
def test_runs_of_two_dates_are_apart_and_have_no_id(name: str) -> None:
    one, two = f"d/{name.format(20261122)}", f"d/{name.format(20261123)}"
    assert groups({one: NOTHING, two: printed(continues="81230")}) == [("", [two]), ("", [one])]
    beside = {one: NOTHING, two: NOTHING, "d/slurm-81230.out": NOTHING}
    assert [job.slurm_id for job in group_by_job(beside)] == ["81230"]


def test_an_id_that_two_tasks_of_an_array_print_is_of_neither() -> None:
    tasks = {f"d/slurm-81230_{task}.out": printed("81230") for task in (1, 2)}
    assert groups({**tasks, "d/worker.log": printed("81230")}) == [
        ("81230_2", ["d/slurm-81230_2.out"]),
        ("81230_1", ["d/slurm-81230_1.out"]),
        ("81230", ["d/worker.log"]),
    ]


def test_a_directory_that_all_logs_share_is_no_job() -> None:
    words = {"/d/54321/run/slurm-81230.out": NOTHING, "/d/54321/run/ray/raylet.err": NOTHING}
    assert groups(words) == [("81230", list(words))]


def test_directories_part_jobs_and_hold_what_names_none() -> None:
    words = {"d/81230/ray/raylet.err": NOTHING, "d/81230/train.log": NOTHING, "d/81231/train.log": NOTHING}
    assert groups(words) == [
        ("81231", ["d/81231/train.log"]),
        ("81230", ["d/81230/ray/raylet.err", "d/81230/train.log"]),
    ]


def test_a_log_without_a_job_belongs_to_the_only_one_of_the_nearest_directory() -> None:
    words = {"d/a/slurm-11.out": NOTHING, "d/a/ray/gcs.out": NOTHING, "d/b/slurm-12.out": NOTHING, "d/x.log": NOTHING}
    assert groups(words) == [
        ("12", ["d/b/slurm-12.out"]),
        ("11", ["d/a/slurm-11.out", "d/a/ray/gcs.out"]),
        ("", ["d/x.log"]),
    ]


def test_what_a_log_prints_is_stronger_than_a_number_in_its_name() -> None:
    words = {"d/exp-12345/a.out": printed("99"), "d/exp-12346/b.out": printed("99")}
    assert groups(words) == [("99", list(words))]


def test_the_name_that_slurm_gives_is_stronger_than_what_a_log_prints() -> None:
    assert groups({"d/slurm-81230.out": printed("81234")}) == [("81230", ["d/slurm-81230.out"])]


def test_a_short_number_counts_where_a_log_prints_it_as_an_id() -> None:
    words = {"d/env.log": printed("991"), "d/run-991.out": NOTHING, "d/run-992.out": printed("992")}
    assert groups(words) == [("992", ["d/run-992.out"]), ("991", ["d/env.log", "d/run-991.out"])]


def test_of_several_printed_ids_the_one_in_the_name_counts() -> None:
    assert groups({"d/run-991.out": printed("990", "991")}) == [("991", ["d/run-991.out"])]


@pytest.mark.parametrize("in_lines", [printed("81232", task="81230_1"), printed("81232")])
def test_the_own_id_of_an_array_task_is_another_name_of_it(in_lines: JobWords) -> None:
    words = {"d/slurm-81230_1.out": in_lines, "d/train.log": printed("81232"), "d/slurm-81230_2.out": NOTHING}
    assert groups(words) == [
        ("81230_2", ["d/slurm-81230_2.out"]),
        ("81230_1", ["d/slurm-81230_1.out", "d/train.log"]),
    ]


def test_jobs_that_are_named_training_are_no_launch() -> None:
    words = {"d/training_81230.out": NOTHING, "d/training_81231.out": NOTHING}
    assert [job.slurm_id for job in group_by_job(words)] == ["81231", "81230"]


@pytest.mark.parametrize("file", LAUNCH_FILES)
def test_a_directory_with_the_files_of_a_launch_is_one_run(tmp_path: Path, file: str) -> None:
    (tmp_path / file).touch()
    words = {f"{tmp_path}/training_81230.out": NOTHING, f"{tmp_path}/training_81231.out": NOTHING}
    assert group_by_job(words) == [JobLogs("81231", tuple(words))]


def test_each_launch_is_a_run_and_another_job_beside_them_too() -> None:
    one = {".skyrl_jobs/A/runtime_81230.out": NOTHING, ".skyrl_jobs/A/training_81229.out": printed("81229")}
    two = {".skyrl_jobs/B/runtime_81240.out": NOTHING, ".skyrl_jobs/B/training_81241.out": NOTHING}
    assert groups({**one, ".skyrl_jobs/B/gate.log": printed("81300"), **two, "slurm-99999.out": NOTHING}) == [
        ("99999", ["slurm-99999.out"]),
        ("81241", [".skyrl_jobs/B/gate.log", *two]),
        ("81229", list(one)),
    ]


def test_a_job_that_continues_another_is_one_run() -> None:
    words = {"slurm-81230.out": NOTHING, "slurm-81231.out": printed(continues="81230"), "slurm-81239.out": NOTHING}
    assert groups(words) == [("81239", ["slurm-81239.out"]), ("81231", ["slurm-81230.out", "slurm-81231.out"])]


def test_paths_of_every_kind_belong_to_the_only_job() -> None:
    words = {"-": NOTHING, "/a/slurm-7.out": NOTHING, "b.log": NOTHING}
    assert groups(words) == [("7", list(words))]


def test_the_newest_job_comes_first_and_logs_without_one_come_last() -> None:
    assert newest_first(["", "9999", "81230_2", "81230_10"]) == ["81230_10", "81230_2", "9999", ""]


def driven(driver: str) -> JobWords:
    return JobWords(driver=driver)


def test_the_drivers_of_two_runs_part_logs_without_a_job() -> None:
    words = {"d/mon.log": driven("1 a"), "d/tue.log": driven("2 b"), "d/tue.err": NOTHING, "d/vllm.log": NOTHING}
    assert groups(words) == [("", ["d/vllm.log"]), ("", ["d/tue.log", "d/tue.err"]), ("", ["d/mon.log"])]


def test_two_copies_of_one_run_and_its_other_logs_stay_together() -> None:
    words = {"d/train.log": driven("1 a"), "d/nohup.out": driven("1 a"), "d/vllm.log": NOTHING}
    assert groups(words) == [("", list(words))]


def prime_logs(run: str) -> list[str]:
    return [f"{run}logs/{name}.log" for name in ("rl", "orchestrator", "trainer/node_0", "inference/node_0")]


def test_the_logs_of_one_run_of_prime_rl_stay_together_beside_those_of_another() -> None:
    one, two, verl = prime_logs("a/"), prime_logs("b/"), ["c/train.log", "c/ray.log"]
    driver = {name: JobWords(driver=f"1 Starting RL run {name}") for name in (one[0], one[1], two[0], verl[0])}
    words = {name: driver.get(name, NOTHING) for name in (*one, *two, *verl)}
    assert groups(words) == [("", verl[:1]), ("", verl[1:]), ("", two), ("", one)]
    assert groups({name: words[name] for name in one}) == [("", one)]
    assert groups({name: words[name] for name in (*one, *verl)}) == [("", verl[:1]), ("", verl[1:]), ("", one)]


def test_an_orchestrator_alone_is_no_run_of_prime_rl() -> None:
    words = dict.fromkeys(("a/orchestrator.log", "b/orchestrator.log"), NOTHING)
    assert groups(words) == [("", list(words))]


def task_runner(*pids: str) -> JobWords:
    return JobWords(driver=f"{pids[0]} (TaskRunner pid={pids[0]})", driver_pids=frozenset(pids))


def test_a_log_of_another_driver_is_not_of_the_only_job_near_it() -> None:
    words = {
        "d/slurm-81230.out": task_runner("1"),
        "d/mon.log": task_runner("2"),
        "d/mon.err": NOTHING,
        "d/tue.log": task_runner("3"),
        "d/ray.log": NOTHING,
        "up.log": NOTHING,
        "rl.log": JobWords(driver="INFO Starting RL run"),
    }
    assert groups(words) == [
        ("81230", ["d/slurm-81230.out", "d/ray.log"]),
        ("", ["up.log"]),
        ("", ["rl.log"]),
        ("", ["d/tue.log"]),
        ("", ["d/mon.log", "d/mon.err"]),
    ]


def test_the_log_of_a_jobs_own_driver_is_of_the_job() -> None:
    copy = {"d/slurm-81230.out": task_runner("1", "2"), "d/train.log": task_runner("2"), "d/ray.log": NOTHING}
    assert groups(copy) == [("81230", list(copy))]
    other_stream = {"d/slurm-81230.out": JobWords(driver="Started a local Ray instance"), "d/t.log": task_runner("2")}
    assert groups(other_stream) == [("81230", list(other_stream))]
    assert [job.near for job in group_by_job(copy)] == [("d/train.log", "d/ray.log")]


def test_a_job_without_a_driver_has_neither_of_two_drivers() -> None:
    one = {"d/slurm-81230.out": NOTHING, "d/mon.log": task_runner("2")}
    assert groups(one) == [("81230", list(one))]
    assert groups({**one, "d/tue.log": task_runner("3")}) == [
        ("81230", ["d/slurm-81230.out"]),
        ("", ["d/tue.log"]),
        ("", ["d/mon.log"]),
    ]
