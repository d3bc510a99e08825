"""The rule for AMD's variable."""

from skyrl_train.node.rocr import rocr_settings
from skyrl_train.node.settings import Preparation, Setting


def test_takes_the_variable_away() -> None:
    assert rocr_settings({"ROCR_VISIBLE_DEVICES": "0,1"}) == Preparation(
        settings=(
            Setting(
                name="ROCR_VISIBLE_DEVICES",
                value=None,
                cures="ENV015",
                why="verl refuses to start if both this and CUDA_VISIBLE_DEVICES are set",
            ),
        )
    )


def test_leaves_the_rest_alone() -> None:
    assert rocr_settings({"CUDA_VISIBLE_DEVICES": "0", "ROCR_VISIBLE_DEVICES": ""}) == Preparation()
