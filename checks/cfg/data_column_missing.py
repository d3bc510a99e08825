"""The rows of the data lack a column that the reward or the data set class reads.

## What it does
Finds the KeyError of a program that reads a column of its data: the reward managers of verl and its forks, the data set
classes of verl, SkyRL, OpenRLHF, slime and AReaL, and TRL's trainers; also the refusals of SkyRL's environments and of
prime-rl. It looks at the line of code above the error: a KeyError of your own code is not this failure.

## Why it breaks training
Data of the hub seldom have the columns of the trainer. verl's rows need `prompt` (a list of messages), `data_source` and
`reward_model` with `ground_truth`. A missing prompt ends the run when the data are loaded, a missing `reward_model` after
the first rollouts.

## How to fix
Print one row and compare its columns with those that the program reads. Convert the data first (verl:
`examples/data_preprocess`), or name the column that is there (`data.prompt_key`, `data.reward_fn_key`, `--input_key`).

## Example
    ground_truth = data_item.non_tensor_batch["reward_model"]["ground_truth"]
    KeyError: 'reward_model'
"""

from skyrl_doctor.core.signature import Signature

PRINT_ROW = "Print one row of the file that the run loads (`python -c 'import pandas; print(pandas.read_parquet(\"FILE\").iloc[0])'`)."
KEY_ERROR = r"(?:^|[\s\]])KeyError: ['\"](?P<column>[\w.-]{1,60})['\"]$"
FILES = r"(?:verl/utils/dataset(?:/\w{1,40})?|skyrl(?:_train|/train)/dataset/\w{1,40}|openrlhf/datasets/\w{1,40}|slime/utils/data|areal/dataset/\w{1,40})\.py"
"""Files of programs that read the rows of data and call no code of the user."""
ROWS = r"(?:example|row|row_dict|doc|data|item|sample|x|(?:self\.)?(?:dataframe|dataset))"
READS_KEY = rf"\b{ROWS}(?:\[|\.pop\()(?:(?:self\.)?\w{{0,20}}key\b|['\"]\w{{1,40}}['\"][\])](?! ?=[^=]))"
IN_OTHER_CODE = r"(?:\n[^\n]{0,200})?\n[^\n]{0,80}File \"(?![^\"\n]{0,300}/(?:datasets|pandas)/)"
"""The next frame, in a file of no library that only looks up the column."""
IN_DATA_SET = (
    rf"{FILES}\", line \d{{1,6}}, in [^\n]{{1,80}}\n[^\n]{{0,300}}{READS_KEY}[^\n]{{0,300}}(?=\n)(?!{IN_OTHER_CODE})"
)
"""The frame, and below it the line of code that reads a column."""
IN_TRL = r"/trl/(?:\w{1,40}/){0,3}\w{1,40}\.py\", line \d{1,6}, in [^\n]{1,80}\n[^\n]{0,300}(?:features?|example|row|x|inputs|batch)\[['\"]\w{1,40}['\"]\]"

SIGNATURES = (
    Signature(
        pattern=KEY_ERROR,
        near=r"\bnon_tensor_batch\[(?:['\"](?:reward_model|data_source|extra_info)['\"]|(?:self\.)?reward_fn_key)\]",
        within=3,
        sample="KeyError: 'reward_model'",
        explain="the rows of the data have no `{column}`, which the reward reads",
        remedy=f"{PRINT_ROW} It needs `data_source` (the name of the reward function) and `reward_model`, a table with `ground_truth`. Convert data of the hub first: verl's `examples/data_preprocess` has one program for each known data set.",
        versions="verl and its forks",
    ),
    Signature(
        pattern=KEY_ERROR,
        near=IN_DATA_SET,
        within=10,
        sample="KeyError: 'prompt'",
        explain="the rows of the data have no `{column}`, which the data set class reads",
        remedy=f"{PRINT_ROW} Rename the column, or give the name that is there: `data.prompt_key` (verl, SkyRL), `--input_key` and `--label_key` (OpenRLHF, slime: `--input-key`).",
        versions="verl, skyrl, openrlhf, slime, areal",
    ),
    Signature(
        pattern=r"(?:^|[\s\]])KeyError: ['\"](?P<column>prompt|completion|chosen|rejected|messages|text|label)['\"]$",
        near=IN_TRL,
        within=6,
        sample="KeyError: 'prompt'",
        explain="the rows of the data have no `{column}`, which TRL's trainer reads",
        remedy="Print one row (`print(dataset[0])`) and rename the column (`dataset.rename_column`): GRPO needs `prompt`; DPO needs `prompt`, `chosen` and `rejected`; KTO needs `prompt`, `completion` and `label`.",
        versions="trl",
    ),
    Signature(
        pattern=r"\bKeyError: \"(?:None of \[Index\(\[['\"](?P<column>[^'\"\n]{1,60})['\"])",
        near=IN_DATA_SET,
        within=16,
        sample="KeyError: \"None of [Index(['question'], dtype='object')] are in the [columns]\"",
        explain="the table of the data has no column `{column}`",
        remedy=f"{PRINT_ROW} Rename the column, or give the name that is there (`data.prompt_key`).",
        versions="verl, pandas",
    ),
    Signature(
        pattern=r"\bKeyError: \"Column (?P<column>[^\s\"]{1,60}) not in the dataset\. Current columns in the dataset: \[(?P<columns>[^\]\n]{0,200})",
        near=rf"{FILES}\", line|/trl/(?:\w{{1,40}}/){{0,3}}\w{{1,40}}\.py\", line",
        within=16,
        sample="KeyError: \"Column prompt not in the dataset. Current columns in the dataset: ['input', 'output', 'reward']\"",
        explain="the data have no column `{column}`; they have {columns}",
        remedy="Rename a column, or name the one that is there in the configuration of the run.",
        versions="datasets",
    ),
    Signature(
        pattern=r"\bAssertionError: (?:(?P<column>reward_spec|reward_model) field is required|(?P<field>ground_truth) is required in (?:reward_spec|reward_model) field)",
        sample="AssertionError: reward_spec field is required",
        explain="the rows of the data have no `reward_spec` (older: `reward_model`) with a `ground_truth`, which the environment of SkyRL reads",
        remedy=f"{PRINT_ROW} Write the data anew with the program of the same version of SkyRL (`examples/train/*/*_dataset.py`); the name of this column was `reward_model` before.",
        versions="skyrl-gym",
    ),
    Signature(
        pattern=r"\bAll examples in the dataset must have either a 'messages' column\b",
        sample="ValueError: All examples in the dataset must have either a 'messages' column or both 'prompt' and 'completion' columns for SFT",
        explain="the rows of the data have neither `messages` nor `prompt` and `completion`, which prime-rl's fine-tuning reads",
        remedy="Print one row (`print(dataset[0])`) and rename its columns.",
        versions="prime-rl",
    ),
)
