"""Recognises the names of variables, settings, options and headers that hold secrets, by the parts of the name."""

import re
from enum import Enum

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_QUALIFIERS = frozenset(
    [
        "b",
        "base",
        "pem",
        "raw",
        "value",
        "val",
        "data",
        "old",
        "new",
        "prod",
        "dev",
        "test",
        "staging",
        "primary",
        "secondary",
        "backup",
        "write",
        "read",
        "rw",
        "ro",
        "json",
        "hex",
        "der",
        "enc",
        "encoded",
        "plain",
    ]
)
"""What may follow the telling part: `SECRET_VALUE`, `SSH_KEY_B64`, `API_TOKEN_OLD`. So may numbers."""
_PASSWORDS = (
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "passcode",
    "sshpass",
    "psk",
    "passwort",
    "kennwort",
    "haslo",
    "contrasena",
    "mot_de_passe",
)
_SHORT_PASSWORDS = frozenset(("pass", "pw", "pwd"))
_SECRETS = (
    "secret",
    "secrets",
    "token",
    "authtoken",
    "accesstoken",
    "apikey",
    "credential",
    "credentials",
    "creds",
    "bearer",
    "authorization",
)
_IN_VARIABLES = frozenset(["auth", "cookie", "cookies", "pat", "sas", "webhook", "dsn", "headers", "keys"])
_OWNERS_OF_KEYS = frozenset(
    [
        "access",
        "account",
        "api",
        "auth",
        "deploy",
        "encryption",
        "license",
        "master",
        "openai",
        "private",
        "secret",
        "service",
        "session",
        "shared",
        "signing",
        "ssh",
        "storage",
        "subscription",
        "wandb",
    ]
)
_NO_SECRET_TOKENS = frozenset(
    [
        "audio",
        "begin",
        "bos",
        "by",
        "cls",
        "each",
        "end",
        "eom",
        "eos",
        "eot",
        "every",
        "fim",
        "first",
        "image",
        "last",
        "mask",
        "max",
        "mean",
        "min",
        "new",
        "next",
        "num",
        "pad",
        "per",
        "placeholder",
        "prev",
        "prompt",
        "response",
        "sep",
        "seq",
        "single",
        "special",
        "start",
        "stop",
        "think",
        "tool",
        "unexpected",
        "unk",
        "video",
        "vision",
    ]
)
"""Before `token`, these name a token of a text."""
_PROPERTIES = frozenset(
    [
        "algorithm",
        "count",
        "dir",
        "enabled",
        "env",
        "file",
        "helper",
        "id",
        "ids",
        "len",
        "length",
        "limit",
        "manager",
        "max",
        "min",
        "mode",
        "name",
        "path",
        "policy",
        "provider",
        "required",
        "size",
        "sock",
        "store",
        "ttl",
        "type",
        "uri",
        "url",
    ]
)
"""A name that ends with one of these tells something about a secret."""


class Holds(Enum):
    """What a name says about its value."""

    NOTHING = "nothing"
    MAYBE = "a secret if the value looks random"
    SECRET = "a secret"
    PASSWORD = "a secret of any form"


def holds(name: str) -> Holds:
    """What the value of this name is, anywhere in a text."""
    parts = _telling_parts(name)
    if not parts:
        return Holds.NOTHING
    last, before = parts[-1], parts[-2] if len(parts) > 1 else ""
    if last.endswith(_PASSWORDS) or name.lower().endswith(_PASSWORDS) or (last in _SHORT_PASSWORDS and before):
        return Holds.PASSWORD
    if name == "PWD":  # the working directory
        return Holds.NOTHING
    if last in _SHORT_PASSWORDS:
        return Holds.PASSWORD if last == "pwd" or name.isupper() else Holds.MAYBE
    if last == "token" and before in _NO_SECRET_TOKENS:
        return Holds.NOTHING
    if last in _SECRETS or last.endswith("secret") or _is_owned_key(last, before):
        return Holds.SECRET
    if name.lower().startswith(("x-amz-", "x-goog-")) and last in ("signature", "credential"):
        return Holds.SECRET
    weak = ("key", "auth", "sig", "signature", "sid", "session", "code", "policy", "cookie", "pat", "sas", "jwt")
    return Holds.MAYBE if last in weak else Holds.NOTHING


def is_secret_name(name: str) -> bool:
    """Whether a variable with this name holds a secret."""
    parts = _telling_parts(name)
    if not parts:
        return False
    if holds(name) in (Holds.SECRET, Holds.PASSWORD):
        return True
    if _all_parts(name)[-2:] in (["webhook", "url"], ["connection", "string"], ["conn", "str"]):
        return True
    last = parts[-1]
    if last in (_IN_VARIABLES - {"keys"}) | {"key"} | (_SHORT_PASSWORDS - {"pwd"}):
        return True
    secret_parts = [part for part in parts if part.endswith(("password", "passwd", "secret"))]
    return bool(secret_parts) and last not in _PROPERTIES


def is_secret_key(name: str) -> bool:
    """Whether a configuration key with this name holds a secret: `API_KEY` does, `prompt_key` names a column."""
    return is_secret_name(name) and (name.isupper() or "api" in name.lower() or not name.lower().endswith("key"))


def _is_owned_key(last: str, before: str) -> bool:
    if last in ("key", "keys"):
        return before in _OWNERS_OF_KEYS
    return last.endswith(
        ("apikey", "accesskey", "secretkey", "privatekey", "identitytoken", "registrytoken", "bearertoken")
    )


def _all_parts(name: str) -> list[str]:
    return [part.lower() for part in _PART.findall(name)]


def _telling_parts(name: str) -> list[str]:
    """The parts without qualifiers at the end."""
    parts = _all_parts(name)
    while len(parts) > 1 and (parts[-1].isdigit() or parts[-1] in _QUALIFIERS):
        parts.pop()
    return parts
