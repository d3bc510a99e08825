"""The judges, in the order of the table."""

from benchmarks.suites import configurations, gpus, openhands, pickles, prime, reports, slurm, swe_bench, verl_start
from benchmarks.suites.cases import Judge

JUDGES = (
    Judge(name="swebench", of="rewards: formats and grading", package="swebench", cases=swe_bench.cases),
    Judge(name="SWE-bench's tests", of="rewards", checkout="swe-bench", before="26 of 45", cases=swe_bench.own_tests),
    Judge(name="SWE-smith's logs", of="rewards", checkout="swe-smith", before="0 of 971", cases=swe_bench.smith_cases),
    Judge(name="Hydra, documented", of="settings that we print", package="verl", cases=configurations.documented),
    Judge(name="Hydra, errors", of="ERRORs about keys", package="verl", cases=configurations.errors),
    Judge(name="verl's validate_config", of="ERRORs about values", package="verl", cases=verl_start.values),
    Judge(name="prime-rl's schema, our cases", of="ERRORs about keys", cases=prime.own_files),
    Judge(name="prime-rl's schema", of="ERRORs about keys", checkout="prime-rl", cases=prime.files),
    Judge(name="picklescan's names", of="checkpoints verify", package="picklescan", cases=pickles.name_cases),
    Judge(
        name="picklescan's files",
        of="checkpoints verify",
        checkout="picklescan",
        before="75 of 87",
        cases=pickles.file_cases,
    ),
    Judge(
        name="safetensors",
        of="checkpoints verify",
        package="safetensors",
        before="3,935 of 4,026",
        cases=pickles.header_cases,
    ),
    Judge(name="OpenHands' editor", of="file_editor", package="openhands-tools", cases=openhands.editor_sets),
    Judge(
        name="OpenHands' editor tests", of="file_editor", checkout="openhands", before="1 fails", cases=openhands.editor
    ),
    Judge(name="OpenHands' terminal tests", of="terminal", checkout="openhands", cases=openhands.terminal),
    Judge(name="OpenHands' bash-service tests", of="sandboxd", checkout="openhands", cases=openhands.bash_service),
    Judge(name="prometheus_client", of="reports", package="prometheus-client", before="all", cases=reports.prometheus),
    Judge(name="junit-10.xsd, our words", of="reports", before="0", cases=reports.junit),
    Judge(name="junit-10.xsd", of="reports", checkout="xunit-plugin", before="0", cases=reports.junit_xsd),
    Judge(name="GitHub's annotations", of="reports", cases=reports.github),
    Judge(name="our JSON schema", of="reports", package="jsonschema", cases=reports.schemas),
    Judge(name="GPU captures", of="GPU facts", checkout="gpu-exporter", before="nearly all", cases=gpus.captures),
    Judge(name="gpud's Xid lines", of="GPU signatures", checkout="gpud", cases=gpus.xids),
    Judge(name="gpud's SXid lines", of="GPU signatures", checkout="gpud", cases=gpus.switch_xids),
    Judge(name="parse_time, our cases", of="time limits", cases=slurm.own_times),
    Judge(name="scontrol's records, our cases", of="job states", cases=slurm.own_records),
    Judge(name="scontrol's records", of="job states", checkout="slurm", cases=slurm.records),
    Judge(name="Slurm's parse_time", of="time limits", checkout="slurm", cases=slurm.times),
)
