"""The screen and the JSON of a budget, whole."""

from dataclasses import replace

from memories import memory
from skyrl_doctor.budget.show import Solved, budget_data, budget_lines
from skyrl_doctor.facts.gpu.budget import GpuBudget
from skyrl_train.memory import GIB, Host, Rollout, Solution, StepTime
from support import plan_of


def shown(found: GpuBudget, solved: Solved | None = None) -> list[str]:
    """The lines after the bars."""
    lines = list(budget_lines(plan_of(), found, solved))
    return lines[lines.index("|  the limit of the GPU") + 2 :]


def test_the_worst_case_comes_before_the_likely_one_against_what_is_free() -> None:
    assert shown(memory(total=20, free=15, update=16, expected=7)) == [
        "worst:   16.0 GiB in update step 2 and after (range 15.2 to 16.8 GiB)",
        "fits:    no, 1.0 GiB too much",
        "likely:  7.0 GiB in update step 2 and after (range 6.6 to 7.4 GiB)",
        "fits:    yes, with 8.0 GiB to spare",
        "lengths: prompts 100 to 200 tokens, replies at their limit",
        "",
        "changes that help most:",
        "  - keep Adam's states on the host between updates: saves 3.7 GiB, then it fits",
        "      actor.optimizer_offload = true",
        "  - lower gpu_memory_utilization: saves 2.0 GiB",
        "      rollout.gpu_memory_utilization = 0.4",
    ]


def test_a_change_is_enough_only_if_the_free_memory_is() -> None:
    found = shown(memory(total=20, free=1, update=16))
    assert found[3:5] == [
        "changes that help most, but none of them is enough:",
        "  - keep Adam's states on the host between updates: saves 3.7 GiB",
    ]


def test_a_run_that_fits_but_for_the_error_of_the_estimate_gets_advice() -> None:
    assert shown(memory(total=20, update=19.5))[:4] == [
        "peak:    19.5 GiB in update step 2 and after (range 18.5 to 20.5 GiB)",
        "fits:    probably, with 0.5 GiB to spare; the estimate may be off by 1.0 GiB",
        "",
        "changes that help most:",
    ]


def test_the_parts_of_the_hosts_memory_are_those_that_exist_at_once() -> None:
    read = Host(states=2 * GIB, activations=1 * GIB, loading=4 * GIB, processes=5 * GIB)
    kept = Host(states=0, activations=4 * GIB, loading=1 * GIB, processes=5 * GIB)
    lines = [" ".join(shown(replace(memory(update=12), host=host))[2:]) for host in (read, kept)]
    assert [" ".join(line.split()) for line in lines] == [
        "host: about 11.0 GiB for each GPU (states kept there 2.0 GiB, weights while they are read 4.0 GiB, processes 5.0 GiB)",
        "host: about 9.0 GiB for each GPU (activations 4.0 GiB, processes 5.0 GiB)",
    ]


def test_times_of_ten_minutes_are_in_minutes() -> None:
    times = [StepTime(rollout=seconds, log_prob=0, update=0, apart=False) for seconds in (9.94, 10, 599, 600)]
    lines = [shown(replace(memory(update=12), seconds=time, replies_known=True))[2] for time in times]
    assert lines == [
        "time:    about 9.9 s a step without the time of tools (rollouts 100%)",
        "time:    about 10 s a step without the time of tools (rollouts 100%)",
        "time:    about 599 s a step without the time of tools (rollouts 100%)",
        "time:    about 10 min a step without the time of tools (rollouts 100%)",
    ]


def test_a_part_below_half_a_percent_is_not_printed() -> None:
    times = [StepTime(rollout=2, log_prob=0, update=8, apart=False, weight_sync=sync) for sync in (0.05, 0.06)]
    lines = [shown(replace(memory(update=12), seconds=time, replies_known=True))[2:4] for time in times]
    took = "time: about 10 s a step without the time of tools (rollouts 20%, update 80%"
    found = [" ".join(" ".join(each).split()).partition(" note:")[0] for each in lines]
    assert found == [f"{took})", f"{took}, weight sync 1%)"]


def test_a_time_says_what_was_measured() -> None:
    time = StepTime(rollout=2, log_prob=1.5, update=4.4, apart=False, weight_sync=0.1, measured=True)
    found = [
        replace(memory(update=12), seconds=each, replies_known=True) for each in (time, time._replace(measured=False))
    ]
    took = (
        "time: about 8.0 s a step without the time of tools (rollouts 25%, log-probs 19%, update 55%, weight sync 1%)"
    )
    assert [" ".join(" ".join(shown(each)[2:]).split()) for each in found] == [
        f"{took} note: measured steps took half to twice as long; the share of rollouts was up to 15 points off",
        f"{took} note: no step of this kind was measured: the time and its parts are a guess",
    ]


def test_the_positions_of_the_model_may_all_be_used() -> None:
    found = memory(update=12)
    exact = replace(found, shape=found.shape._replace(max_positions=2048))
    over = replace(found, shape=found.shape._replace(max_positions=2047))
    assert [" ".join(" ".join(shown(one)[2:]).split()) for one in (exact, over)] == [
        "",
        "note: prompt + response = 2048 tokens, but the model has only 2047 positions (CFG005)",
    ]


def test_a_solved_response_length_names_the_context_that_it_needs() -> None:
    found = memory(update=12)
    short = replace(found, job=replace(found.job, rollout=Rollout(max_model_len=4000)))
    worst = Solution("response_length", 3000, found.budget)
    likely = Solution("response_length", 2000, found.budget)
    assert " ".join(" ".join(shown(short, Solved(worst, likely))[3:]).split()) == (
        "solve: response_length = 3000 is the largest value that fits; set max_model_len to 4024 too "
        "solve: response_length = 2000 is the largest value that fits, with the expected lengths"
    )


def test_the_expected_figure_in_json() -> None:
    data = budget_data(plan_of(), memory(total=20, free=15, update=16, expected=7), None)
    assert data["expected"] == {
        "lengths": "prompts 100 to 200 tokens, replies at their limit",
        "peak_gib": 7.0,
        "phase": "update step 2 and after",
        "fits": True,
    }
    assert (data["device"]["fits"], data["device"]["limit_gib"]) == (False, 15.0)
    assert [change["fits"] for change in data["changes"]] == [True, False]
