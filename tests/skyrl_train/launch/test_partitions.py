"""Jobs that a partition would never start, told before anything is submitted."""

import pytest

from skyrl_train.config.load import parse
from skyrl_train.contracts.errors import UsageError
from skyrl_train.launch.account_rules import Controller
from skyrl_train.launch.partitions import refuse
from skyrl_train.launch.role import Role
from skyrl_train.launch.slurm import SlurmError

# Slurm 22.05's own line, shortened, and others in its form.
TOLD = """\
PartitionName=cpu AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL Default=YES QoS=N/A MaxNodes=UNLIMITED MaxTime=UNLIMITED MinNodes=0 State=UP
PartitionName=gpu AllowGroups=ALL AllowAccounts=lab,ai AllowQos=ALL Default=NO MaxNodes=1 MaxTime=04:00:00 State=UP
PartitionName=old AllowAccounts=ALL Default=NO MaxNodes=UNLIMITED MaxTime=1-00:00:00 State=DOWN
"""


FLAT = Controller(version=(22, 5), has_accounts=True)


def said(told: str = TOLD, roles: tuple[Role, ...] = tuple(Role), **slurm: object) -> str:
    lines = "".join(f"{key} = {value!r}\n" for key, value in slurm.items())
    config = parse(f'[model]\npath = "a/b"\n[slurm]\n{lines}'.replace("'", '"'))
    try:
        refuse(config, roles, lambda: told, ask_controller=lambda: FLAT)
    except UsageError as error:
        return str(error)
    return ""


def test_a_time_limit_that_the_partition_does_not_give() -> None:
    assert said(gpu_partition="gpu", trainer_time_limit="6:00:00") == (
        "nothing was submitted, because Slurm would never start it: "
        "slurm.trainer_time_limit = 6:00:00, but partition gpu allows at most 04:00:00"
    )
    for fits in ("4:00:00", "240", "0-4"):
        assert said(gpu_partition="gpu", trainer_time_limit=fits) == ""
    assert "UNLIMITED, but partition gpu allows at most 04:00:00" in said(
        gpu_partition="gpu", trainer_time_limit="UNLIMITED", runtime_time_limit="UNLIMITED"
    )


def test_a_qos_may_give_more_time() -> None:
    assert said(gpu_partition="gpu", trainer_time_limit="6:00:00", qos="long") == ""


@pytest.mark.parametrize(
    ("slurm", "fault"),
    [
        ({"gpu_partition": "gpu", "nodes": 2}, "slurm.nodes = 2, but partition gpu allows at most 1"),
        (
            {"gpu_partition": "gpu", "account": "x"},
            "slurm.account = 'x' may not use partition gpu, which allows lab,ai",
        ),
        ({"cpu_partition": "gpu", "runtime_time_limit": "8:00:00"}, "slurm.runtime_time_limit = 8:00:00, but"),
    ],
)
def test_what_else_it_does_not_give(slurm: dict[str, object], fault: str) -> None:
    assert fault in said(**({"trainer_time_limit": "4:00:00"} | slurm))


def test_the_default_partition_is_the_one_of_a_job_that_names_none() -> None:
    assert said(TOLD.replace("MaxTime=UNLIMITED", "MaxTime=10")).count("partition cpu allows at most 10") == 2


def test_what_is_not_asked_for_is_not_judged() -> None:
    assert said(roles=(Role.RUNTIME,), gpu_partition="gpu", trainer_time_limit="6:00:00") == ""
    assert said(gpu_partition="old") == ""  # down for a while: its jobs wait


@pytest.mark.parametrize(
    ("line", "nodes", "reason"),
    [
        ("MaxNodes=UNLIMITED MinNodes=0 TotalNodes=1", 2, "slurm.nodes = 2, but partition gpu has 1"),
        ("MaxNodes=1 MinNodes=0 TotalNodes=9", 2, "slurm.nodes = 2, but partition gpu allows at most 1"),
        ("MaxNodes=UNLIMITED MinNodes=2 TotalNodes=9", 1, "slurm.nodes = 1, but partition gpu allows no fewer than 2"),
        ("MaxNodes=UNLIMITED MinNodes=1 TotalNodes=2", 2, ""),
        ("MaxNodes=UNLIMITED MinNodes=0 TotalNodes=0", 2, ""),
    ],
)
def test_a_number_of_nodes_that_never_starts(line: str, nodes: int, reason: str) -> None:
    """Slurm takes such a job, and it waits for ever (PartitionNodeLimit)."""
    told = said(f"PartitionName=gpu {line}\n", (Role.TRAINER,), gpu_partition="gpu", nodes=nodes)
    assert told.endswith(reason)
    assert bool(told) == bool(reason)


@pytest.mark.parametrize(
    "told", ["", "garbage\n=\n", "PartitionName=gpu\n", "PartitionName=gpu MaxTime=x MaxNodes=x\n"]
)
def test_where_nothing_is_told_sbatch_has_the_word(told: str) -> None:
    assert said(told, gpu_partition="gpu") == ""


def test_a_controller_that_does_not_answer_refuses_nothing() -> None:
    def silent() -> str:
        raise SlurmError("scontrol did not answer")

    refuse(parse('[model]\npath = "a/b"\n'), tuple(Role), silent)


NODES = "64000|8|gpu:2g.20gb:2(S:0-1)\n128000|16|gpu:a100:4,gpu:2g.20gb:1\n"
FITS: dict[str, object] = {"trainer_memory_mib": 128000, "trainer_cpus": 16, "gpus_per_node": 4}


def sized(nodes: str = NODES, **slurm: object) -> str:
    lines = "".join(f"{key} = {value!r}\n" for key, value in ({"runtime_cpus": 16} | FITS | slurm).items())
    head = '[model]\npath = "a/b"\n[actor]\ndynamic_batch_size = true\n[agent]\nmax_parallel = 1\n'
    config = parse(f"{head}[slurm]\n{lines}".replace("'", '"'))
    try:
        refuse(config, tuple(Role), lambda: TOLD, lambda _: nodes)
    except UsageError as error:
        return str(error).partition("start it: ")[2]
    return ""


@pytest.mark.parametrize(
    ("slurm", "fault"),
    [
        ({}, ""),
        (
            {"gpus_per_node": 3, "gpu_type": "2g.20gb"},
            "slurm.gpus_per_node = 3 with slurm.gpu_type = '2g.20gb', but no node of partition cpu has more than 2 GPUs of this type",
        ),
        (
            {"gpus_per_node": 1, "gpu_type": "h100"},
            "slurm.gpus_per_node = 1 with slurm.gpu_type = 'h100', but no node of partition cpu has a GPU of this type; they have 2g.20gb, a100",
        ),
        (
            {"gpus_per_node": 6},
            "slurm.gpus_per_node = 6, but no node of partition cpu has more than 5 GPUs, MIG slices included",
        ),
        (
            {"trainer_memory_mib": 128001},
            "slurm.trainer_memory_mib = 128001, but no node of partition cpu has more than 128000",
        ),
        ({"runtime_cpus": 17}, "slurm.runtime_cpus = 17, but no node of partition cpu has more than 16"),
        ({"extra": ["--mem=1G"], "trainer_memory_mib": 999999}, ""),
        (
            {"gpu_partition": "cpu,old", "trainer_memory_mib": 999999},
            "slurm.trainer_memory_mib = 999999, but no node of partition cpu has more than 128000",
        ),
    ],
)
def test_what_no_node_has(slurm: dict[str, object], fault: str) -> None:
    assert sized(**slurm) == fault


@pytest.mark.parametrize("nodes", ["", "garbage\n", "x|y|z\n", "||\n"])
def test_nodes_that_slurm_does_not_list_are_not_judged(nodes: str) -> None:
    assert sized(nodes, trainer_memory_mib=999999, gpus_per_node=99) == ""


def test_a_partition_that_slurm_does_not_have() -> None:
    assert "slurm.gpu_partition = 'gpus', but Slurm has no partition gpus; it has cpu, gpu, old" in said(
        gpu_partition="gpus"
    )
    assert said(gpu_partition="cpu,old") == ""
    assert "Slurm has no partition nowhere" in said(gpu_partition="cpu,nowhere")
    assert said("", gpu_partition="gpus") == ""


def test_what_refuses_both_jobs_is_said_once() -> None:
    text = "slurm.account = 'x' may not use partition gpu, which allows lab,ai"
    limits = {"trainer_time_limit": "4:00:00", "runtime_time_limit": "4:00:00"}
    assert said(cpu_partition="gpu", gpu_partition="gpu", account="x", **limits).partition("start it: ")[2] == text


def test_a_warning_that_would_come_at_once() -> None:
    assert said("", trainer_time_limit="5", signal_before_end_s=300).endswith(
        "slurm.signal_before_end_s = 300, but slurm.trainer_time_limit = 5 is only 300 s, so the warning would come at once; use at most 150"
    )
    assert said("", trainer_time_limit="6", signal_before_end_s=300) == ""


@pytest.mark.parametrize(
    ("gres", "most"),
    [
        ("(null)", "a GPU"),
        ("gpu:1", "more than 1 GPU"),
        ("gpu:8", "more than 8 GPUs"),
        ("gpu:8(S:0-1)", "more than 8 GPUs"),
        ("gpu:a100:4(S:0-3),gpu:2g.20gb:2(S:0),shard:16(S:0-3)", "more than 6 GPUs, MIG slices included"),
        ("gpu:tesla:2,gpu:kepler:2,mps:400,bandwidth:lustre:no_consume:4G", "more than 4 GPUs"),
        ("craynetwork:4,gpu:h100:8(S:0-1)", "more than 8 GPUs"),
        ("shard:8", "a GPU"),
        ("gpu:h100:no_consume:8", None),
        ("gpu", None),
    ],
)
def test_the_gpus_of_a_node_as_slurm_writes_them(gres: str, most: str | None) -> None:
    """`sinfo --format=%G`, 20.11 to 25.11. What cannot be read is not judged."""
    told = sized(f"128000|16|{gres}\n", gpus_per_node=9)
    assert told == ("" if most is None else f"slurm.gpus_per_node = 9, but no node of partition cpu has {most}")


@pytest.mark.parametrize(
    ("line", "slurm", "reason"),
    [
        ("State=INACTIVE", {}, "partition gpu is INACTIVE"),
        ("State=DRAIN", {}, "partition gpu is DRAIN"),
        ("Alternate=NONE State=DRAIN", {}, "partition gpu is DRAIN"),
        ("Alternate=spare State=DRAIN", {}, ""),
        (
            "MaxMemPerNode=60000",
            {"trainer_memory_mib": 60001},
            "slurm.trainer_memory_mib = 60001, but partition gpu allows at most 60000 on a node (MaxMemPerNode)",
        ),
        ("MaxMemPerNode=UNLIMITED MaxMemPerCPU=10", {}, ""),
        (
            "MaxCPUsPerNode=7",
            {},
            "slurm.trainer_cpus = 8, but partition gpu allows at most 7 on a node (MaxCPUsPerNode)",
        ),
        (
            "DenyAccounts=lab,us",
            {"account": "us"},
            "slurm.account = 'us' may not use partition gpu, which denies it",
        ),
        ("DenyAccounts=lab,us", {"account": "u"}, ""),
        ("DenyQos=low", {"qos": "low"}, "slurm.qos = 'low' may not use partition gpu, which denies it"),
    ],
)
def test_limits_and_states_of_a_partition(line: str, slurm: dict[str, object], reason: str) -> None:
    told = said(f"PartitionName=gpu {line}\n", (Role.TRAINER,), gpu_partition="gpu", **slurm)
    assert told.partition("start it: ")[2] == reason


SHORT = "PartitionName=short MaxTime=10 State=UP\nPartitionName=lean MaxMemPerNode=10\n"


def test_a_job_that_names_several_partitions_needs_one_that_fits() -> None:
    assert said(TOLD + SHORT, gpu_partition="short,cpu", trainer_time_limit="6:00:00") == ""
    told = said(TOLD + SHORT, gpu_partition="lean,short", trainer_time_limit="6:00:00")
    assert told.endswith("start it: slurm.trainer_time_limit = 6:00:00, but partition short allows at most 10")


def notes(told: str, controller: Controller = FLAT, **slurm: object) -> list[str]:
    lines = "".join(f"{key} = {value!r}\n" for key, value in slurm.items())
    config = parse(f'[model]\npath = "a/b"\n[slurm]\n{lines}'.replace("'", '"'))
    heard: list[str] = []
    refuse(config, tuple(Role), lambda: told, lambda _: "", lambda: controller, say=heard.append)
    return heard


def test_a_partition_that_is_down_is_named_and_waited_for() -> None:
    assert notes(TOLD, gpu_partition="old") == ["the trainer job will wait, because partition old is DOWN"]
    assert notes(TOLD, gpu_partition="old,cpu") == []


def test_an_account_that_may_be_below_an_allowed_one_is_named_and_not_refused() -> None:
    newer = Controller(version=(23, 2), has_accounts=True)
    note = (
        "the trainer job may wait for ever: slurm.account = 'x' may not use partition gpu, which allows lab,ai "
        "(an account below an allowed one may use it too)"
    )
    assert notes(TOLD, newer, gpu_partition="gpu", account="x", trainer_time_limit="4:00:00") == [note]
    assert notes(TOLD, newer, gpu_partition="gpu,cpu", account="x", trainer_time_limit="4:00:00") == []
    assert notes(TOLD, newer, gpu_partition="gpu", account="ai", trainer_time_limit="4:00:00") == []


SLICES = "64000|8|gpu:a100_2g.20gb:2(S:0-1)\n64000|8|gpu:1g.10gb+me:4\n"


def slices(nodes: str = SLICES, *, judges: bool = True, **slurm: object) -> str:
    lines = "".join(
        f"{key} = {value!r}\n" for key, value in ({"runtime_cpus": 8, "trainer_memory_mib": 64000} | slurm).items()
    )
    head = '[model]\npath = "a/b"\n[actor]\ndynamic_batch_size = true\n[agent]\nmax_parallel = 1\n'
    config = parse(f"{head}[slurm]\n{lines}".replace("'", '"'))
    try:
        refuse(config, (Role.TRAINER,), lambda: TOLD, lambda _: nodes, judges_slices=judges)
    except UsageError as error:
        return str(error)
    return ""


WHOLE_TOO = f"{SLICES}64000|8|gpu:a100:4\n"
BOTH = "64000|8|gpu:a100:2,gpu:a100_2g.20gb:3\n"


@pytest.mark.parametrize(
    ("nodes", "slurm", "text"),
    [
        (
            SLICES,
            {"gpus_per_node": 2},
            (
                "slurm.gpus_per_node = 2, but the nodes of partition cpu with 2 or more have only MIG slices (1g.10gb+me, a100_2g.20gb), "
                "and a slice cannot train together with another; set slurm.gpus_per_node = 1, or name a partition with whole GPUs (GPU002)"
            ),
        ),
        (
            f"{SLICES}64000|8|gpu:a100:1\n",
            {"gpus_per_node": 2},
            (
                "slurm.gpus_per_node = 2, but the nodes of partition cpu with 2 or more have only MIG slices (1g.10gb+me, a100_2g.20gb), "
                "and a slice cannot train together with another; set slurm.gpus_per_node = 1, or name a partition with whole GPUs (GPU002)"
            ),
        ),
        (
            BOTH,
            {"gpus_per_node": 4},
            (
                "slurm.gpus_per_node = 4, but the nodes of partition cpu with 4 or more have MIG slices and too few whole GPUs "
                "(a100_2g.20gb), and a slice cannot train together with another; set slurm.gpus_per_node = 1, or name a partition "
                "with whole GPUs (GPU002)"
            ),
        ),
        (
            WHOLE_TOO,
            {"gpus_per_node": 2, "gpu_type": "a100_2g.20gb"},
            (
                "slurm.gpus_per_node = 2 with slurm.gpu_type = 'a100_2g.20gb', which is a MIG slice, and slices cannot train "
                "together; set slurm.gpus_per_node = 1, or a type of whole GPUs (GPU002)"
            ),
        ),
        (
            SLICES,
            {"extra": ["--exclusive"]},
            (
                "slurm.extra has --exclusive, which gives the job all GPUs of a node. On partition cpu MIG slices (1g.10gb+me, "
                "a100_2g.20gb) are among them, and a process can use a slice only alone; remove it (GPU001)"
            ),
        ),
        (
            BOTH,
            {"extra": ["--exclusive"], "gpu_type": "a100"},
            (
                "slurm.extra has --exclusive, which gives the job all GPUs of a node. On partition cpu MIG slices (a100_2g.20gb) "
                "are among them, and a process can use a slice only alone; remove it (GPU001)"
            ),
        ),
    ],
)
def test_slices_with_which_no_run_works(nodes: str, slurm: dict[str, object], text: str) -> None:
    assert slices(nodes, **slurm) == f"nothing was submitted: {text}"


@pytest.mark.parametrize(
    ("nodes", "slurm"),
    [
        (SLICES, {}),
        (f"{SLICES}64000|8|gpu:a100:4\n", {"gpus_per_node": 2}),
        (f"{SLICES}64000|8|gpu:4\n", {"gpus_per_node": 2}),
        (f"{SLICES}64000|8|gpu:a100_40gb:4\n", {"gpus_per_node": 2}),
        (f"{SLICES}64000|8|gpu:h100:no_consume:8\n", {"gpus_per_node": 4}),
        ("64000|8|gpu:2g.20gb:1\n", {"extra": ["--exclusive"]}),
        (BOTH, {}),
        (BOTH, {"gpus_per_node": 2}),
        (BOTH, {"gpus_per_node": 2, "gpu_type": "a100"}),
        (WHOLE_TOO, {"extra": ["--exclusive"]}),
    ],
)
def test_slices_are_not_refused(nodes: str, slurm: dict[str, object]) -> None:
    assert slices(nodes, **slurm) == ""


def test_slices_are_left_to_the_node_on_request() -> None:
    assert slices(gpus_per_node=2, judges=False) == ""


@pytest.mark.parametrize("option", ["--array=0-3", "-a 1", "-a0-3", "--nodes=2", "-N2", "-N 2"])
def test_an_option_with_which_no_launch_works(option: str) -> None:
    assert said("", extra=[option]).startswith(f"nothing was submitted: slurm.extra has {option}, ")


@pytest.mark.parametrize(
    "option", ["--account=x", "-A x", "--nodes=1", "--nodes=1-1", "-N1", "--nodelist=n2", "--nice"]
)
def test_other_options_are_the_user_s(option: str) -> None:
    assert said("", extra=[option]) == ""


@pytest.mark.parametrize("option", ["--qos=long", "-q long"])
def test_a_qos_in_the_extra_options_may_allow_more(option: str) -> None:
    assert said(TOLD + SHORT, gpu_partition="short", trainer_time_limit="6:00:00") != ""
    assert said(TOLD + SHORT, gpu_partition="short", trainer_time_limit="6:00:00", extra=[option]) == ""
