"""Which checks judge a configuration alone."""

from skyrl_doctor.facts.prompts import PromptLengths
from skyrl_doctor.structure_only import config_only
from support import registry

ALONE = (
    "AGT014 AGT020 CFG001 CFG002 CFG003 CFG004 CFG006 PRM001 PRM002 PRM003 PRM004 PRM005 PRM006 PRM007 PRM008 "
    "RUN005 SLM001 TRN003"
)


def test_they_need_the_plan_and_no_more() -> None:
    chosen, welcome = config_only(registry().checks)
    assert set(ALONE.split()) <= {check.id for check in chosen}
    assert welcome.get(PromptLengths, "absent") is None
    assert not {"GPU001", "MOD003", "ENV005"} & {check.id for check in chosen}
