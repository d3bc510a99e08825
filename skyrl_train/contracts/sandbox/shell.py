"""What only bash understands, and how a script is handed to bash (RUN006).

The agent server runs a command in /bin/sh, which in Debian's images is dash: no `source`, no `[[`, no arrays. Each
command is a process of its own: `cd` and `export` do not reach the next one.
"""

import re
import shlex

BASH = "/bin/bash"
_COMMENT = re.compile(r"(?:^|(?<=[\s;&|(]))#[^\n]*")
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1[^\n]*\n.*?^\t*\2$", re.MULTILINE | re.DOTALL)
_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
_BEFORE = r"(?:^|[;&|({\n]|\b(?:then|do|else|if|while|until|!)\b)\s*"
_CONSTRUCTS = (
    ("source", re.compile(_BEFORE + r"source\s+\S", re.MULTILINE)),
    ("[[ ]]", re.compile(_BEFORE + r"\[\[\s", re.MULTILINE)),
    ("an array", re.compile(r"(?:^|[\s;])\w+\+?=\(|\$\{\w+\[[@*\d]", re.MULTILINE)),
    ("<( )", re.compile(r"[<>]\([^)]")),
    ("<<<", re.compile(r"<<<")),
    ("&>", re.compile(r"&>>?\s*\S")),
    ("function NAME", re.compile(_BEFORE + r"function\s+\w+", re.MULTILINE)),
    ("pipefail", re.compile(r"\bset\s+-\w*o\s+pipefail\b")),
    ("(( ))", re.compile(_BEFORE + r"\(\(", re.MULTILINE)),
    ("{1..9}", re.compile(r"\{\w+\.\.\w+\}")),
    ("$'…'", re.compile(r"\$'")),
)
_EXPLICIT = re.compile(r"^\s*(?:exec\s+)?(?:/usr)?(?:/bin/)?(?:env\s+)?bash\s")
_SHEBANG = re.compile(r"#!\s*\S*\bbash\b")


def bash_only(script: str) -> tuple[str, ...]:
    """The constructs in it that /bin/sh may not have, each once. Empty where it says itself that bash runs it."""
    if _SHEBANG.match(script) or _EXPLICIT.match(script):
        return ()
    bare = _QUOTED.sub(_kept, _COMMENT.sub("", _HEREDOC.sub("", script)))
    return tuple(name for name, pattern in _CONSTRUCTS if pattern.search(bare))


def _kept(quoted: "re.Match[str]") -> str:
    """A text is no construct; what $'…' is for stays to be seen, and so does an array that a text expands."""
    text = quoted[0]
    if text.startswith("'"):
        return "''"
    return " ".join(re.findall(r"\$\{\w+\[[@*\d]", text)) or '""'


def in_bash(script: str) -> str:
    """A command for /bin/sh that runs the script in bash, whatever is in it."""
    return f"{BASH} -c {shlex.quote(script)}"  # FIX(RUN006)
