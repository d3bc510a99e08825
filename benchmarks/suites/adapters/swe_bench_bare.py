"""SWE-bench's harness as it is, without docker, datasets and modal, which its own tests of parsers do not use."""

from benchmarks.suites.swe_bench import harness

harness("grading")
harness("log_parsers")
