"""What only bash understands, and how a script is handed to bash (RUN006).

The agent server runs a command in /bin/sh, which in Debian's images is dash: no `source`, no `[[`, no arrays. Each
command is a process of its own: `cd` and `export` do not reach the next one.
"""

import re
import shlex

from skyrl_train.contracts.lazy_pattern import LazyPattern

BASH = "/bin/bash"
_COMMENT = LazyPattern(r"(?:^|(?<=[\s;&|(]))#[^\n]*")
_HEREDOC = LazyPattern(r"<<-?\s*(['\"]?)(\w+)\1[^\n]*\n.*?^\t*\2$", re.MULTILINE | re.DOTALL)
_QUOTED = LazyPattern(r"'[^']*'|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
_BEFORE = r"(?:^|[;&|({\n]|\b(?:then|do|else|if|while|until|!)\b)\s*"
_CONSTRUCTS = (
    ("source", LazyPattern(_BEFORE + r"source\s+\S", re.MULTILINE)),
    ("[[ ]]", LazyPattern(_BEFORE + r"\[\[\s", re.MULTILINE)),
    ("an array", LazyPattern(r"(?:^|[\s;])\w+\+?=\(|\$\{\w+\[[@*\d]", re.MULTILINE)),
    ("<( )", LazyPattern(r"[<>]\([^)]")),
    ("<<<", LazyPattern(r"<<<")),
    ("&>", LazyPattern(r"&>>?\s*\S")),
    ("function NAME", LazyPattern(_BEFORE + r"function\s+\w+", re.MULTILINE)),
    ("pipefail", LazyPattern(r"\bset\s+-\w*o\s+pipefail\b")),
    ("(( ))", LazyPattern(_BEFORE + r"\(\(", re.MULTILINE)),
    ("{1..9}", LazyPattern(r"\{\w+\.\.\w+\}")),
    ("$'…'", LazyPattern(r"\$'")),
)
_EXPLICIT = re.compile(r"^\s*(?:exec\s+)?(?:/usr)?(?:/bin/)?(?:env\s+)?bash\s")
_SHEBANG = re.compile(r"#!\s*\S*\bbash\b")


def bash_only(script: str) -> tuple[str, ...]:
    """The constructs in it that /bin/sh may not have, each once. Empty where it says itself that bash runs it."""
    if _SHEBANG.match(script) or _EXPLICIT.match(script):
        return ()
    bare = _QUOTED.compiled.sub(_kept, _COMMENT.compiled.sub("", _HEREDOC.compiled.sub("", script)))
    return tuple(name for name, pattern in _CONSTRUCTS if pattern.compiled.search(bare))


def _kept(quoted: "re.Match[str]") -> str:
    """A text is no construct; what $'…' is for stays to be seen, and so does an array that a text expands."""
    text = quoted[0]
    if text.startswith("'"):
        return "''"
    return " ".join(re.findall(r"\$\{\w+\[[@*\d]", text)) or '""'


def in_bash(script: str) -> str:
    """A command for /bin/sh that runs the script in bash, whatever is in it."""
    return f"{BASH} -c {shlex.quote(script)}"  # FIX(RUN006)
