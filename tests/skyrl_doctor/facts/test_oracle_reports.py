"""Reports beside the training data."""

import pytest

from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.oracle_reports import OracleReports, TriedData, oracle_reports
from skyrl_doctor.machine.recorded import RecordedMachine
from support import plan_of

STAT = {"kind": "file", "mode": 420, "uid": 0, "gid": 0, "size": 5, "mtime": 1.0, "device": 1, "inode": 1}


def look(files: list[str], **answers: object) -> OracleReports:
    machine = RecordedMachine({name.replace("__", " "): answer for name, answer in answers.items()}, strict=True)
    return oracle_reports(machine, plan_of(data__train_files=files), Environ({"HOME": "/home/ada"}))


def test_a_report_that_is_not_there_is_none_and_one_that_cannot_be_read_is_said() -> None:
    there: dict[str, object] = {"stat__/home/ada/d": STAT}
    gone = {"absent": "/home/ada/d.oracle.json"}
    assert look(["~/d"], **there, **{"read__/home/ada/d.oracle.json": gone}) == OracleReports(
        (TriedData("/home/ada/d", 5, "/home/ada/d.oracle.json", None, None),)
    )
    hidden = {"unreadable": "/home/ada/d.oracle.json", "why": "Permission denied"}
    with pytest.raises(CouldNotLook, match="Permission denied"):
        look(["~/d"], **there, **{"read__/home/ada/d.oracle.json": hidden})


def test_data_that_is_elsewhere_or_not_named() -> None:
    with pytest.raises(NotApplicable, match="/d: not on this machine"):
        look(["/d"], **{"stat__/d": {"absent": "/d"}})
    with pytest.raises(NotApplicable, match="names no training data"):
        look([])
