"""Replies for the comparison with the SDK: two thousand put together at random, fifty written by hand."""

import random

PARAMETERS = {
    "terminal": ("command", "is_input", "timeout"),
    "execute_bash": ("command",),
    "bash": ("command",),
    "file_editor": ("command", "path", "old_str", "new_str", "insert_line", "view_range", "file_text"),
    "str_replace_editor": ("command", "path", "old_str", "new_str"),
    "finish": ("message",),
    "think": ("thought",),
    "browse": ("url",),
}
VALUES = {
    "is_input": ("true", "false", "True", "maybe"),
    "timeout": ("10", "2.5", "-1", "soon"),
    "insert_line": ("0", "12", " 3 ", "\n4\n", "1.5", "x"),
    "view_range": ("[1, 20]", "[1, -1]", "\n[2, 3]\n", "1, 2", '"a"'),
    "path": ("/testbed/a.py", "\n/testbed/a.py\n", " /testbed/b.py"),
}
EDITOR_COMMANDS = ("view", "create", "str_replace", "insert", "undo_edit", "\nview\n", "edit")
TEXTS = (
    "ls -la",
    "",
    "\n    return a < b\n",
    "\nimport os\n\n\ndef f():\n    pass\n\n",
    "\r\ntwo\r\nlines\r\n",
    "  indented",
    "naïve → 北京",
    "grep '</parameter>' x",
    "echo '</function>'",
    "grep '<function=' -r .",
    "cat <<E\n<parameter=a>\nE",
    "a > b && c",
    "x = 1\n",
)
BEFORE = (
    "",
    "I look first.\n\n",
    "<think>hm</think>\n",
    "hm\n</think>\n\n",
    "<tool_call>\n",
    "Use <function=x> now.\n",
)
BEFORE_RARE = ("<think>\n<function=think>\n<parameter=thought>a</parameter>\n</function>\n</think>\n", "<think>")
AFTER = ("", "", "", "\n", "\n</tool_call>", "\nThat lists the files.", "\n<function=think>\n</function>")
ENDS = ("</function>",) * 6 + ("", "</function", "</")


def _value(tool: str, name: str, rng: random.Random) -> str:
    if name == "command" and tool in ("file_editor", "str_replace_editor"):
        return rng.choice(EDITOR_COMMANDS[:4] if rng.random() < 0.8 else EDITOR_COMMANDS)
    usual = VALUES.get(name, TEXTS)
    return rng.choice(usual[:2] if name in VALUES and rng.random() < 0.8 else usual)


def _parameter(tool: str, name: str, rng: random.Random) -> str:
    value = _value(tool, name, rng)
    chance = rng.random()
    if chance < 0.03:
        return f"<parameter={name}={value}</parameter>"
    if chance < 0.05:
        return f"<parameter={name}>{value}"
    if chance < 0.06:
        return f"<parameter={name}>{value}</parameter></parameter>"
    if chance < 0.07:
        return f"<parameter={name}>{value}</parameter> and"
    return f"<parameter={name}>{value}</parameter>"


def generated(count: int, seed: int = 7) -> list[str]:
    """So many replies, the same each time."""
    rng = random.Random(seed)
    return [_turn(rng) for _ in range(count)]


def _turn(rng: random.Random) -> str:
    if rng.random() < 0.05:
        return rng.choice(("", "I am done.", '{"name": "terminal"}', "<think>hm</think>", "Use terminal."))
    tool = rng.choice([*PARAMETERS, "terminal", "file_editor", "finish"])
    names = [name for name in PARAMETERS[tool] if rng.random() < 0.92]
    if rng.random() < 0.05:
        names.append(rng.choice(("security_risk", "summary", "command")))
    newline = rng.choice(("\n", "\n", "\n", "\r\n", ""))
    lines = [f"<function={tool}>", *(_parameter(tool, name, rng) for name in names)]
    end = rng.choice(ENDS)
    before = rng.choice(BEFORE_RARE) if rng.random() < 0.04 else rng.choice(BEFORE)
    return before + newline.join(lines) + newline + end + (rng.choice(AFTER) if end == "</function>" else "")


def _call(tool: str, **parameters: str) -> str:
    return "\n".join(
        [
            f"<function={tool}>",
            *(f"<parameter={name}>{value}</parameter>" for name, value in parameters.items()),
            "</function>",
        ]
    )


_VIEW = _call("file_editor", command="view", path="/testbed/sympy/core/add.py", view_range="[120, 160]")
_LS = _call("terminal", command="cd /testbed && git status --short | head -20")
_EDIT = _call(
    "str_replace_editor",
    command="str_replace",
    path="/testbed/pandas/core/frame.py",
    old_str="\n        if axis == 0:\n            return self\n",
    new_str="\n        if axis in (0, 'index'):\n            return self.copy()\n",
)
_CREATE = _call(
    "file_editor",
    command="create",
    path="/testbed/reproduce.py",
    file_text="\nfrom PIL import Image\n\nimage = Image.new('RGB', (1, 1))\nassert image.size < (2, 2)\n\n",
)
_FINISH = _call("finish", message="I changed Add.flatten so that it keeps the order; all tests pass.")

WRITTEN = [
    _VIEW,
    _LS,
    _EDIT,
    _CREATE,
    _FINISH,
    "Let me look at the repository.\n\n" + _LS,
    "The failing test compares dtypes; I read the function first.\n" + _VIEW,
    "<think>\nThe stack trace points at flatten().\n</think>\n\n" + _VIEW,
    "The stack trace points at flatten().\n</think>\n\n" + _VIEW,
    "<tool_call>\n" + _EDIT + "\n</tool_call>",
    _LS.removesuffix("</function>"),
    _EDIT.removesuffix(">"),
    _CREATE.removesuffix("function>"),
    _FINISH + "\n",
    _LS.replace("\n", "\r\n"),
    _EDIT.replace("\n", "\r\n"),
    _LS + "\n" + _VIEW,
    _LS + "\nThis shows what changed.",
    "I have fixed the bug and all tests pass.",
    "```bash\nls -la\n```",
    '<tool_call>\n{"name": "terminal", "arguments": {"command": "ls"}}\n</tool_call>',
    '<function=terminal>{"command": "ls"}</function>',
    "<function=terminal>\nls -la\n</function>",
    "<function=terminal><parameter=command>ls</parameter></function>",
    "<function=terminal>\n<parameter=command>\nls -la\n</parameter>\n</function>",
    "<function=terminal>\n<parameter=command>\nls -la</parameter>\n</function>",
    "<function=terminal>\n<parameter=command=ls</parameter>\n</function>",
    "<function=file_editor>\n<parameter=command=view</parameter>\n<parameter=path=/testbed</parameter>\n</function>",
    "<function=terminal>\n<parameter=command>ls\n</function>",
    "<function=terminal>\n<parameter=command>ls</parameter>\n</parameter>\n</function>",
    "<function=terminal>\n<parameter=cmd>ls</parameter>\n</function>",
    "<function=terminal>\n</function>",
    "<function=terminal",
    "<function=terminal>",
    "<function=Terminal>\n<parameter=command>ls</parameter>\n</function>",
    "<function= terminal >\n<parameter=command>ls</parameter>\n</function>",
    "<function=execute_bash>\n<parameter=command>python -m pytest -q tests/test_add.py</parameter>\n</function>",
    "<function=execute_bash>\n<parameter=command>C-c</parameter>\n<parameter=is_input>true</parameter>\n</function>",
    "<function=finish>\n</function>",
    "<function=finish>\n<parameter=thought>done</parameter>\n</function>",
    _call("terminal", command="grep -rn '</parameter>' /testbed/docs"),
    _call("terminal", command="sed -i 's#</function>#</f>#' /testbed/a.xml"),
    _call("terminal", command="echo '<parameter=x>' > a.txt"),
    _call("file_editor", command="insert", path="/testbed/a.py", insert_line="12", new_str="\n    x = 1\n"),
    _call("file_editor", command="insert", path="/testbed/a.py", insert_line="twelve", new_str="x"),
    _call("file_editor", command="view", path="/testbed/a.py", view_range="1-20"),
    _call("file_editor", command="delete", path="/testbed/a.py"),
    _call("file_editor", command="undo_edit", path="/testbed/a.py", security_risk="LOW"),
    "<think>\n" + _LS + "\n</think>\nI will not do that.",
    "In docs, <function=terminal> is how one calls it. " + _LS,
]
