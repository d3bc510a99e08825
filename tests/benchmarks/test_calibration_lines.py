"""Real lines of vLLM 0.24.0 and verl 0.9.1 against the patterns that read them."""

from benchmarks.calibration import main_ppo, vllm_lines

VLLM = """\
DEBUG 11-21 03:19:33 [v1/worker/gpu_worker.py:344] worker requested memory: 41.94GiB
INFO 11-21 03:19:34 [v1/worker/gpu_model_runner.py:5255] Model loading took 0.93 GiB memory and 0.213312 seconds
DEBUG 11-21 03:19:50 [v1/worker/gpu_worker.py:496] Initial free memory: 138.77 GiB; Requested memory: 0.300000 (util), 41.94 GiB
INFO 11-21 03:19:50 [v1/worker/gpu_worker.py:508] Available KV cache memory: 39.68 GiB
INFO 11-21 03:19:50 [v1/core/kv_cache_utils.py:2146] GPU KV cache size: 3,467,664 tokens
INFO 11-21 03:19:55 [v1/worker/gpu_model_runner.py:6656] Graph capturing finished in 4 secs, took 0.28 GiB
INFO 11-21 03:20:01 [v1/worker/gpu_worker.py:181] Sleep mode freed 41.49 GiB memory, 1.76 GiB memory is still in use.
INFO 11-21 03:20:05 [v1/worker/gpu_worker.py:181] Sleep mode freed 41.5 GiB memory, 1.7 GiB memory is still in use.
"""
VERL = (
    "\x1b[36m(TaskRunner pid=1)\x1b[0m step:2 - actor/perf/max_memory_allocated_gb:11.561489582061768 - "
    "actor/perf/max_memory_reserved_gb:np.float64(16.001953125) - actor/grad_norm:0.5 - timing_s/step:18.66797 - "
    "perf/throughput:1.2e+3\n"
)


def test_vllms_own_figures() -> None:
    assert vllm_lines.parse(VLLM) == {
        "weights_gib": 0.93,
        "requested_gib": 41.94,
        "kv_gib": 39.68,
        "kv_tokens": 3467664.0,
        "graphs_gib": 0.28,
        "sleep_freed_gib": 41.49,
        "sleep_left_gib": 1.76,
    }


def test_a_log_that_says_nothing_gives_nothing() -> None:
    assert vllm_lines.parse("") == {}
    assert vllm_lines.parse("Model loading took a while") == {}
    assert main_ppo.steps("") == []


def test_verls_metrics_of_a_step() -> None:
    assert main_ppo.steps(VERL) == [
        {
            "step": 2.0,
            "actor/perf/max_memory_allocated_gb": 11.561489582061768,
            "actor/perf/max_memory_reserved_gb": 16.001953125,
            "timing_s/step": 18.66797,
            "perf/throughput": 1200.0,
        }
    ]


def test_cases_of_vllm_are_recorded_under_verls_names() -> None:
    assert all(case.job["actor_rollout_ref.rollout.enable_sleep_mode"] is True for case in vllm_lines.CASES)
    assert len({case.id for case in vllm_lines.CASES}) == len(vllm_lines.CASES)
