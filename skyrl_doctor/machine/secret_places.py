"""Texts that are secrets by what stands before them: a name, an option, a header, a command, the start of an address."""

import re
from collections.abc import Callable, Iterator

from skyrl_doctor.machine.secret_names import Holds, holds
from skyrl_train.contracts.lazy_pattern import LazyPattern

Span = tuple[int, int]

_QUOTED = r"(?P<escape>\\{0,7})(?P<quote>[\"'])(?P<quoted>[^\n]{0,4096}?)(?P=escape)(?P=quote)"
_JUDGED = 128
"""A bare value is judged by so many characters and hidden whole: names side by side are values of each other."""
_OF_A_VALUE = r"[^\s\0\"',;&<>`\x1b]"
_REST = re.compile(_OF_A_VALUE + "{0,4096}")
_TAG = r"!{1,2}[a-z][\w/:.-]{0,40}[ \t]{1,8}"
"""A tag of YAML; before a bare value it is hidden, too, as it may be the start of a password."""
_BARE = rf"(?P<bare>(?:{_TAG}(?!#))?{_OF_A_VALUE}{{1,{_JUDGED}}})"
_VALUE = rf"(?:{_QUOTED}|{_BARE})"
_START = r"(?:(?<!\w)|(?<=\x1b\[\dm)|(?<=\x1b\[\d\dm)|(?<=\x1b\[\d;\d\dm)|(?<=%[0-9A-Fa-f]{2}))"
"""A name also begins after the codes of a colour, and after a sign that a URL encodes."""
_NAME = rf"(?P<name>{_START}[A-Za-z_][\w.-]{{0,100}}+)"
_COLOUR = r"(?:\x1b\[[\d;]{0,12}m)?"
_AFTER_NAME = rf"{_COLOUR}(?:\\{{0,7}}[\"'])?\]?[ \t]{{0,8}}"
_WALL = r"(?:[|\u2502\u2503](?!\|)|\xe2\x94[\x82\x83])"
_OPERATOR = rf"(?:=>|:=|\+=|->|=(?!=)|:|%3[ADad]|(?<=[\"']),|{_WALL})"
"""Also between a header and its value in a tuple, and between the cells of a table. In binary data UTF-8 is read as Latin-1."""
_NEXT_LINE = r"(?:[|>][+-]?\d?)?[ \t]{0,8}\r?\n[ \t]{1,40}(?=[^\s:=]{4,400}[ \t]{0,8}(?:\r?\n|\Z)|\\{0,7}[\"'])"
"""The value is alone on the next line, which is indented, as a block of YAML."""
_BEFORE_VALUE = (
    rf"{_COLOUR}[ \t]{{0,8}}(?:{_TAG}(?=[\"']))?(?:{_NEXT_LINE})?{_COLOUR}\[?(?:Secret(?:Str|Bytes)\()?"
    r"(?:[bBfFrRuU]{1,2}(?=[\"']))?(?:(?:'''|\"\"\")\s{0,40})?"
)
_ASSIGNMENT = LazyPattern(rf"{_NAME}(?P<mark>{_AFTER_NAME}{_OPERATOR}{_BEFORE_VALUE}){_VALUE}")
_WEAK_MARK = re.compile(rf"->|,|{_WALL}(?!\s*\n)")
"""After these a value counts only if it has a digit and a letter: lists and tables name more than they tell."""
OPTION = LazyPattern(rf"(?<![\w-])--?{_NAME}[\"']?(?P<mark>(?:,[ ]{{0,4}}|[ \t\0]{{1,8}})){_VALUE}")
"""An option and its value, apart. In /proc the words of a command line are separated by NUL."""
_PAIR = LazyPattern(
    rf"\b(?:name|key)[\"']?\s{{0,4}}[:=]\s{{0,4}}[\"']?{_NAME}[\"']?,?\s{{1,40}}(?:#[^\n]{{0,400}}\n\s{{0,40}}){{0,8}}[\"']?value(?P<mark>[\"']?\s{{0,4}}[:=]\s{{0,4}}){_VALUE}"
)
"""A variable of a container: its name and its value stand apart."""
_REJECTED = LazyPattern(rf"(?m)^[ \t]{{0,40}}{_NAME}\n[^\n]{{0,400}}?\binput_value(?P<mark>=){_VALUE}")
"""A message of pydantic."""
_NO_QUOTES = r"(?P<quoted>(?!))?"
_ELEMENT = LazyPattern(
    rf"<(?:[\w-]{{1,40}}:)?{_NAME}(?P<mark>(?:\s[^<>]{{0,200}})?>)\s{{0,40}}"
    r"(?:<!\[CDATA\[(?P<quoted>[^\n]{1,4096}?)\]\]>|(?P<bare>[^<>\s]{1,4096}))\s{0,40}</"
)
"""An element of XML."""
_SETS = LazyPattern(
    rf"\b(?:ENV|ARG|setenv|setx|set\s-\w{{1,3}}|config(?:ure)?\sset)[ \t]{{1,8}}{_NAME}(?P<mark>[ \t]{{1,8}}){_VALUE}"
)
"""A command that takes the name and the value of a variable apart."""
_COLUMN = LazyPattern(
    rf"(?m)^[ \t]{{0,40}}(?P<name>[A-Z][A-Z0-9]{{0,30}}_[A-Z0-9_]{{1,60}})(?P<mark>\t|[ \t]{{2,60}}){_NO_QUOTES}"
    r"(?P<bare>(?=\S{0,400}\d)[^\s<]{6,4096})[ \t]{0,40}$"
)
"""A variable in a table of two columns."""
_BRACKETS = LazyPattern(
    rf"{_START}(?P<name>[A-Z][A-Z0-9]{{0,30}}_[A-Z0-9_]{{1,60}}+)(?P<mark>[ \t]?\(){_NO_QUOTES}"
    r"(?P<bare>(?=[^\s()]{0,400}\d)[^\s()\"'<]{6,4096})\)"
)
"""A variable and its value in brackets."""
_NAMED = (
    ("-", OPTION),
    ("value", _PAIR),
    ("input_value", _REJECTED),
    ("</", _ELEMENT),
    ("_", _COLUMN),
    ("(", _BRACKETS),
)
"""What each needs to be in the text."""
_SEVERAL = LazyPattern(rf"{_NAME}[\"']?[ \t]{{0,8}}[:=][ \t]{{0,8}}\[(?P<all>[^\]\[]{{1,4096}})\]")
_ONE_OF_SEVERAL = LazyPattern(r"([\"'])(?P<value>(?=[^\"']{0,400}\d)[^\"'\n]{4,400})\1")
_JWK = LazyPattern(r"[\"'](?:d|p|q|dp|dq|qi|k)[\"']\s{0,4}:\s{0,4}[\"'](?P<value>[\w-]{16,})")
"""The private parts of a JSON Web Key."""

_AUTHORIZATION = LazyPattern(
    r"(?i)\bauthorization[\"']?\s{0,4}(?:=>|[:=,])\s{0,4}[\"']?"
    r"(?:(?P<all>(?:digest|aws4-hmac-sha256)\s[^\n]+)|(?:[\w-]{1,30}\s{1,4})?(?P<value>[^\s<\"']{8,}))"
)
_BEARER = LazyPattern(r"(?i)\bbearer\s{1,4}(?P<value>[A-Za-z0-9._~+/=-]{8,})")
_COOKIES = LazyPattern(
    r"(?i)(?:\b(?:set-)?cookie[\"']?\s{0,4}[:=]|\bcurl\b[^\n]{0,400}?\s(?:-b|--cookie))\s{0,4}(?P<value>[^\n]{1,8192})"
)
_COOKIE = LazyPattern(r"(?P<name>[\w.-]{1,100})=(?P<value>[^;,\s\"'<]{6,})")
_OF_A_COOKIE = frozenset(("domain", "expires", "max-age", "path", "samesite"))

_COMMANDS = tuple(
    (marker, LazyPattern(pattern))
    for marker, pattern in (
        ("sshpass", r"\bsshpass\s+-p\s?(?P<value>[^\s\"'<]{3,})"),
        ("-p", r"\b(?:mysql|mariadb)\w*\s[^\n|;]{0,400}?(?<=\s)-p(?P<value>[^\s\"'<]{4,})"),
        ("login", r"\b(?:docker|podman|buildah|skopeo|nerdctl|oras|helm)\s[^\n|;]{0,40}?\blogin\s[^\n|;]{0,400}?(?<=\s)-p[ =]?(?P<value>[^\s\"'<]{3,})"),
        ("creds", r"--(?:\w+-)?creds[ =]\s{0,4}[^\s:<]{1,100}:(?P<value>[^\s\"'<]{3,})"),
        ("-u", r"\b(?:curl|wget|http|https)\s[^\n|;]{0,400}?(?<=\s)(?:-u|--user|--proxy-user)[ =]?\s{0,4}[\"']?[^\s:\"'/<]{1,100}:(?P<value>[^\s\"'<]{3,})"),
        ("wandb", r"\bwandb\s+login\s(?:\s{0,4}--?[\w=-]+\s){0,4}\s{0,4}(?P<value>[A-Za-z0-9_-]{20,})"),
        ("redis-cli", r"\bredis-cli\s[^\n|;]{0,400}?(?<=\s)-a\s{1,4}(?P<value>[^\s\"'<]{3,})"),
        ("pass:", r"-pass(?:in|out)?\s{1,4}pass:(?P<value>[^\s\"'<]{3,})"),
        ("login", r"\blogin\s{1,40}\S{1,100}\s{1,40}(?:account\s{1,40}\S{1,100}\s{1,40})?passw(?:or)?d\s{1,40}(?P<value>(?=\S{0,100}[^a-z\s])[^\s<]{3,}|[^\s<]{8,})"),  # .netrc
        ("login", r"\bmachine\s{1,40}\S{1,200}\s{1,40}login\s{1,40}\S{1,100}\s{1,40}account\s{1,40}(?P<value>(?=\S{0,100}[^a-z\s])[^\s<]{3,})"),
        (":", r"(?m)^[ \t]{0,40}(?![^:\n]{0,253}\.(?:[a-z]|cpp|cu|log|md|py|pyx|rs|sh|ts|txt):)(?:[\w.-]{1,253}|\*):(?:\d{4,5}|\*):(?:[A-Za-z_][\w-]{0,62}|\*):(?:[A-Za-z_][\w.@-]{0,62}|\*):(?P<value>(?=[^\s]{0,100}\d)(?=[^\s]{0,100}[A-Za-z])(?:\\.|[^\s:<\\]){6,200})[ \t]{0,8}\r?$"),  # .pgpass
        ("/t/", r"://[\w.:-]{1,253}/t/(?P<value>(?=[\w-]{0,100}\d)(?=[\w-]{0,100}[A-Za-z])[\w-]{16,200})(?=/)"),  # conda
        ("password", r"\bpassword\s{1,40}(?P<value>(?=\S{0,100}\d)[^\s<]{6,})"),
        ("assword", r"(?i)\bpassword(?:\sfor\s[\w.@-]{1,60})?\s{0,4}(?:\bis\b|\bwas\b|:)\s{1,4}(?P<value>(?=\S{0,100}\d)[^\s<,;\"']{6,})"),
        ("ldap", r"\bldap\w+\s[^\n|;]{0,400}?(?<=\s)-w\s{0,4}(?P<value>[^\s\"'<]{3,})"),
        ("smbclient", r"\bsmbclient\s[^\n|;]{0,400}?(?<=\s)-U\s{0,4}[^\s%]{1,100}%(?P<value>[^\s\"'<]{3,})"),
        ("-P", r"\b(?:sqlcmd|unzip|zip|mosquitto_\w+)\s[^\n|;]{0,400}?(?<=\s)-P\s{0,4}(?P<value>[^\s\"'<]{3,})"),
        ("7z", r"\b7z[ar]?\s[^\n|;]{0,400}?(?<=\s)-p(?P<value>[^\s\"'<]{3,})"),
        ("chpasswd", r"\becho\s{1,4}[\"']?[\w.-]{1,100}:(?P<value>[^\s\"'<]{3,})[\"']?\s{0,4}\|[^\n]{0,100}?\bchpasswd\b"),
        ("htpasswd", r"\bhtpasswd\s{1,4}-\w{0,8}b\w{0,8}\s{1,4}\S{1,200}\s{1,4}\S{1,100}\s{1,4}(?P<value>[^\s\"'<]{3,})"),
        ("vault", r"\bvault\s{1,4}login\s(?:\s{0,4}-[\w=-]{1,60}\s){0,4}\s{0,4}(?P<value>[^\s\"'<=-][^\s\"'<=]{7,})"),
        ("ftp", r"\bl?ftp\s[^\n|;]{0,400}?(?<=\s)-u\s{0,4}[^\s,]{1,100},(?P<value>[^\s\"'<]{3,})"),
        ("-stdin", r"\b(?:echo|printf)\s(?:[^\n|]{0,40}\s)?[\"']?(?P<value>[^\s\"'<|$]{3,})[\"']?\s{0,4}\|[^\n|]{0,200}--password-stdin\b"),
        ("sudo", r"\becho\s{1,4}[\"']?(?P<value>[^\s\"'<|$]{3,})[\"']?\s{0,4}\|\s{0,4}sudo\s(?:[^\n|]{0,40}\s)?-\w{0,4}S\b"),
        ("-P", r"\bipmitool\s[^\n|;]{0,400}?(?<=\s)-P\s{0,4}(?P<value>[^\s\"'<]{3,})"),
        ("snmp", r"\bsnmp\w+\s[^\n|;]{0,400}?(?<=\s)-c\s{0,4}(?P<value>(?!public\b|private\b)[^\s\"'<]{3,})"),
        ("mongo", r"\bmongo\w*\s[^\n|;]{0,400}?(?<=\s)-p\s{1,4}(?P<value>[^\s\"'<-][^\s\"'<]{2,})"),
        ("freerdp", r"\bw?[lx]?freerdp\w*\s[^\n|;]{0,400}?(?<=\s)/p:(?P<value>[^\s\"'<]{3,})"),
        ("-storepass", r"\s-(?:storepass|keypass|srcstorepass|deststorepass)\s{1,4}(?P<value>[^\s\"'<]{3,})"),
        ("openssl", r"\bopenssl\s[^\n|;]{0,400}?(?<=\s)-k\s{1,4}(?P<value>[^\s\"'<]{3,})"),
        ("<<<", r"--with-token\s{0,4}<<<\s{0,4}[\"']?(?P<value>[^\s\"'<$]{8,})"),
        ("login", r"\bswanlab\s{1,4}login\s[^\n|;]{0,100}?(?<=\s)-k\s{1,4}(?P<value>[^\s\"'<]{8,})"),
        ("bearer,", r"\bbearer,\s{1,4}(?P<value>(?=\S{0,100}\d)[A-Za-z0-9._~+/=-]{16,})"),
        ("dockerconfigjson", r"\.dockerconfigjson[\"']?\s{0,4}:\s{0,4}[\"']?(?P<value>[A-Za-z0-9+/=]{16,})"),
        ("\u5bc6", r"\u5bc6(?:\u7801|\u94a5)\s{0,4}[:\uff1a=\uff1d]\s{0,4}(?P<value>[^\s,;\uff0c\u3002\"'<]{6,})"),  # Chinese: password, key
        ("@", r"(?<![\w/:])[\w.-]{1,60}:(?P<value>[^\s:@/\"'<]{3,200})@(?:tcp|unix|udp)\("),  # a database of Go
    )
)  # fmt: skip
_USER_AND_PASSWORD = LazyPattern(
    r"://(?P<value>[^\s/@:'\"<]{0,200}:(?:[^\s/'\"<]{1,400}|(?!\d{1,5}/)[^\s'\"<@]{1,400}))(?=@)"
)
_USER = LazyPattern(r"://(?P<value>(?:(?=[^\s/@]{0,200}\d)[^\s/@:'\"<]{8,}|[^\s/@:'\"<]{20,}))(?=@)")
_PROSE = LazyPattern(
    r"(?i)\b(?:api[ _-]?key|access key|token|secret|password|passphrase|credential)s?(?:\s[a-z]{1,12}){0,3}[\s:=\"'`(]{1,4}"
    r"(?P<value>[A-Za-z0-9+/_=.-]{16,})"
)

_EMPTY = re.compile(
    r"(?i)none|null|nil|true|false|empty|required|optional|missing|unset|undefined|string|str|bytes|secretstr|(.)\1*|\*.*"
    r"|[\[({$%<].*|(?:~|\.{0,2})/(?:[a-z.][a-z0-9_.-]*)(?:/.*)?|your[_-].*"
)
"""Values that are no secrets: nothing, a type, a reference to a variable, a path."""
_CODE = re.compile(r"[\w.]+[(\[].*|(?:self|cls|args|config|os)\.\S*|[A-Za-z_]+(?:\.[A-Za-z_]+)+")
_NAME_OF_ANOTHER = re.compile(r"[A-Za-z_]+")
_LONG_WORD = re.compile(r"[A-Za-z0-9+/]{16,}|[A-Za-z0-9_-]{20,}")
_CHANGE = re.compile(r"[A-Za-z](?=\d)|\d(?=[A-Za-z])|[a-z](?=[A-Z])")
_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[A-Za-z]")
_SCHEMES = frozenset(("bearer", "basic", "token", "digest", "negotiate", "ntlm", "apikey"))


def spans(text: str) -> Iterator[Span]:
    """The places of texts that are secrets by what stands before them."""
    yield from named(_ASSIGNMENT, text)
    for marker, pattern in _NAMED:
        if marker in text:
            yield from named(pattern, text)
    if any(word in text for word in ("ENV", "ARG", "set")):
        yield from named(_SETS, text)
    if "[" in text:
        yield from _several(text)
    if "kty" in text:
        yield from _values(_JWK, text)
    if "://" in text:
        yield from _values(_USER_AND_PASSWORD, text)
        yield from _values(_USER, text)
    for marker, pattern in _COMMANDS:
        if marker in text:
            yield from _values(pattern, text)
    lower = text.lower()
    if "bearer" in lower:
        yield from _values(_BEARER, text, but=_is_word)
    if "authorization" in lower:
        for match in _AUTHORIZATION.compiled.finditer(text):
            if match["all"] or not _is_word(match["value"]):
                yield match.span("all" if match["all"] else "value")
    if "cookie" in lower or "curl" in lower:
        yield from _cookies(text)
    if any(word in lower for word in ("key", "token", "secret", "pass", "credential")):
        yield from _values(_PROSE, text, but=lambda value: not is_random(value))


def named(pattern: LazyPattern, text: str) -> Iterator[Span]:
    """The places of values whose names tell that they are secrets."""
    at = 0
    while match := pattern.compiled.search(text, at):
        group = "quoted" if match["quoted"] is not None else "bare"
        start, end = match.span(group)
        if _is_secret(match, text[end : end + 2]):
            if group == "bare":
                end = _end_of_bare(text, start, end)
            yield start, end
            at = end
        else:
            at = match.end("name")  # what follows may be a name itself


def _end_of_bare(text: str, start: int, end: int) -> int:
    """Where a bare value ends, of which `end` may be only the end of what was judged."""
    if end - start >= _JUDGED and (rest := _REST.match(text, end)):
        end = rest.end()
    return start + len(text[start:end].rstrip(")]}"))


def is_random(value: str) -> bool:
    """Whether a value looks like a key: sixteen letters and digits or more without a break, mixed."""
    if _EMPTY.fullmatch(value):
        return False
    return any(
        len(_CHANGE.findall(run[0])) >= 3 and any(map(str.isdigit, run[0])) for run in _LONG_WORD.finditer(value)
    )


def _is_secret(match: re.Match[str], after: str) -> bool:
    name = match["name"].rpartition(".")[2]
    kind = holds(name)
    if kind is Holds.NOTHING:
        return False
    is_quoted = match["quoted"] is not None
    value = match["quoted"] if is_quoted else match["bare"].rstrip(")]}")
    if _EMPTY.fullmatch(value) or value.lower() in _SCHEMES or (value.startswith("-") and match.re is OPTION.compiled):
        return False
    if kind is Holds.MAYBE:
        return is_random(value)
    if _WEAK_MARK.search(match["mark"]) and not (_DIGIT.search(value) and _LETTER.search(value)):
        return False
    if not is_quoted and _is_code(value):
        return False
    is_prose = ":" in match["mark"] and not is_quoted and not name.lower().startswith("x-")
    if kind is Holds.PASSWORD:
        return len(value) >= 4 and not (is_prose and _is_word(value) and after[:1] == " " and after[1:].isalpha())
    if is_prose and _is_word(value):
        return False
    return len(value) >= 6 and not value.replace(".", "").replace(",", "").isdigit()


def _is_code(value: str) -> bool:
    """Whether it is an expression of a line of source: `self.token`, `read_key(path)`, `user_password`."""
    if _CODE.fullmatch(value):
        return True
    return _NAME_OF_ANOTHER.fullmatch(value) is not None and holds(value) is not Holds.NOTHING


def _is_word(value: str) -> bool:
    return value.rstrip(".,:").isalpha() and value.islower()


def _values(pattern: LazyPattern, text: str, *, but: Callable[[str], bool] | None = None) -> Iterator[Span]:
    for match in pattern.compiled.finditer(text):
        if but is None or not but(match["value"]):
            yield match.span("value")


def _several(text: str) -> Iterator[Span]:
    """The quoted values of a list whose name tells that they are secrets."""
    for match in _SEVERAL.compiled.finditer(text):
        if holds(match["name"].rpartition(".")[2]) in (Holds.SECRET, Holds.PASSWORD):
            for one in _ONE_OF_SEVERAL.compiled.finditer(text, *match.span("all")):
                yield one.span("value")


def _cookies(text: str) -> Iterator[Span]:
    for header in _COOKIES.compiled.finditer(text):
        for cookie in _COOKIE.compiled.finditer(text, *header.span("value")):
            if cookie["name"].lower() not in _OF_A_COOKIE:
                yield cookie.span("value")
