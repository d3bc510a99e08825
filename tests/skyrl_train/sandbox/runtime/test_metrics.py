"""The text of /metrics: every name that dashboards and the doctor's watch read."""

from skyrl_train.sandbox.runtime.metrics import Metrics, gauge


def samples(metrics: Metrics) -> dict[str, float]:
    """Without the times at which a series began."""
    lines = [line for line in metrics.text().splitlines() if not line.startswith("#")]
    found = {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}
    return {name: value for name, value in found.items() if "_created" not in name}


def test_a_new_server_has_every_counter_at_zero() -> None:
    prefix, bounds = "skyrl_runtime_", (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, "+Inf")
    names = [f"{name}_total" for name in ("starts", "ready", "failed", "limits", "reaped", "prewarmed_used")]
    names += ['builds_total{outcome="built"}', 'builds_total{outcome="failed"}', "build_seconds_total"]
    names += ["engine_restarts_total", "engine_unsure_total"]
    names += [
        *(f'start_seconds_bucket{{le="{bound}"}}' for bound in bounds),
        "start_seconds_count",
        "start_seconds_sum",
    ]
    assert samples(Metrics()) == {f"{prefix}{name}": 0.0 for name in names}


def test_counts_times_and_gauges() -> None:
    metrics = Metrics()
    metrics.starts.inc()
    metrics.refused.labels("503").inc()
    metrics.start_seconds.observe(3)
    metrics.add_gauges(lambda: [gauge("slots", "Worker slots of this node.", 7)])
    before, after = samples(Metrics()), samples(metrics)
    changed = {name.removeprefix("skyrl_runtime_"): value for name, value in after.items() if before.get(name) != value}
    assert changed == {
        "starts_total": 1.0,
        'refused_total{status="503"}': 1.0,
        **{f'start_seconds_bucket{{le="{bound}"}}': 1.0 for bound in ("5.0", "10.0", "30.0", "60.0", "300.0", "+Inf")},
        "start_seconds_count": 1.0,
        "start_seconds_sum": 3.0,
        "slots": 7.0,
    }


def test_two_servers_share_nothing() -> None:
    one, other = Metrics(), Metrics()
    one.starts.inc()
    assert (samples(one)["skyrl_runtime_starts_total"], samples(other)["skyrl_runtime_starts_total"]) == (1.0, 0.0)
