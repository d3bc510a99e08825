"""Prometheus' text format."""

import math

from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.report.prometheus import escape_label
from skyrl_doctor.watch.read.exposition import Sample, parse, quantile, total

TEXT = """\
# HELP vllm:generation_tokens_total Number of generation tokens processed.
# TYPE vllm:generation_tokens_total counter
vllm:generation_tokens_total{engine="0",model_name="a \\"b\\" \\\\ }"} 1234.0
vllm:generation_tokens_total{engine="1"} 6 1700000000000
up 1
broken{ 3
nan_one NaN
lat_bucket{le="1.0"} 5
lat_bucket{le="10"} 19
lat_bucket{le="+Inf"} 20
"""


def test_samples_sums_and_quantiles() -> None:
    samples = parse(TEXT)
    assert samples[:3] == [
        Sample("vllm:generation_tokens_total", {"engine": "0", "model_name": 'a "b" \\ }'}, 1234.0),
        Sample("vllm:generation_tokens_total", {"engine": "1"}, 6.0),
        Sample("up", {}, 1.0),
    ]
    assert total(samples, "absent", "vllm:generation_tokens_total") == 1240.0
    assert total(samples, "vllm:generation_tokens_total", where=lambda labels: labels["engine"] == "1") == 6.0
    assert (total(samples, "absent"), total(samples, "nan_one")) == (None, None)
    assert (quantile(samples, "lat", 0.25), quantile(samples, "lat", 0.95), quantile(samples, "lat", 0.99)) == (
        1,
        10,
        10,
    )
    assert quantile(samples, "absent", 0.5) is None


@given(st.text(), st.floats(allow_nan=False))
def test_what_the_doctor_writes_it_reads(label: str, value: float) -> None:
    text = label.encode("utf-8", "replace").decode()
    lines = f'a{{b="{escape_label(text)}"}} {value!r}'
    if len(lines.splitlines()) == 1:
        assert parse(lines) == [Sample("a", {"b": text}, value)]


@given(st.text(max_size=300))
def test_garbage_is_no_sample_and_no_crash(text: str) -> None:
    for sample in parse(text):
        assert math.isnan(sample.value) or isinstance(sample.value, float)
    total(parse(text), "a")
    quantile(parse("a_bucket" + text), "a", 0.5)
