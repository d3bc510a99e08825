"""Replaces secrets in texts by tokens.

Within one run or bundle the same secret gives the same token, so that findings can still be compared. The key is
random for each run, so that a token reveals nothing about its secret.
"""

import os
import re
from collections.abc import Iterable, Mapping

SECRET_NAME = re.compile(
    r"(?:^|_)(?:(?:API|ACCESS|SECRET|PRIVATE|AUTH|SESSION|LICENSE|SIGNING|ENCRYPTION)_?KEYS?(?:_\d+)?|KEY|SECRETS"
    r"|CREDENTIALS?|COOKIES?|BEARER|PAT|SAS|AUTHORIZATION|WEBHOOK(?:_URL)?|DSN|AUTH|HEADERS?|CONN(?:ECTION)?_STR(?:ING)?)$"
    r"|(?:PASSWORDS?|PASSWD|PASSPHRASE|SECRET|TOKEN|API_?KEY|_PWD|_PASS|SSHPASS)$",
    re.IGNORECASE,
)
"""Matches names of variables whose value is a secret."""

OPTION = re.compile(r"(?i)--[\w-]*(?:api[_-]?key|token|secret|password|passwd)[\s=\0]+(?P<value>[^\s\0<]{6,})")
"""Matches an option with a secret in a command line. In /proc the words are separated by NUL."""

SECRET_TEXT = (
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
    re.compile(
        r"\b(?:hf_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|wandb_v\d_\w{16,})"
    ),
    re.compile(
        r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}|\bxox[abposr]-[A-Za-z0-9-]{10,}|\bAIza[\w-]{30,}|\bnpm_[A-Za-z0-9]{30,}"
    ),
    re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"),
    re.compile(r"(?<=://)[^\s/@:'\"]*:[^\s/@'\"]+(?=@)"),
    re.compile(r"(?<=://)[^\s/@:'\"]{8,}(?=@)"),
    re.compile(r"(?:hooks\.slack\.com/services|discord(?:app)?\.com/api/webhooks)/(?P<value>[^\s'\"]+)"),
    re.compile(r"(?i)\bauthorization[\"']?\s*[:=]\s*[\"']?\w+\s+(?P<value>[^\s<\"']{8,})"),
    re.compile(r"(?i)(?<=bearer )[A-Za-z0-9._~+/=-]{8,}"),
    re.compile(r"(?i)\bpassword\s+(?P<value>\S{6,})"),
    re.compile(r"(?i)(?<=\bx-api-key: )\S+|(?<=\bx-session-api-key: )\S+"),
    OPTION,
    re.compile(
        r"(?i)(?<![A-Za-z])(?:(?:api|access|secret|private|auth|account)[_-]?key|token|secret|x-amz-(?:signature|credential)"
        r"|[A-Za-z]{0,20}passw(?:or)?d)[\"']?\s*[=:]\s*[\"']?(?P<value>[^\s\"',;&}<][^\s\"',;&}]{5,})"
    ),
)
_MIN_LENGTH = 6
_PRINTED = re.compile(r"[\t\n\r\x20-\x7e\xa0-\xff]{6,}")
"""Matches printable text in a binary file."""


class Redactor:
    """Replaces the secrets of one machine, and text that looks like a secret."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._key = os.urandom(16)
        # The longest first: a secret may contain another.
        self._known = sorted(
            {text for text in known if len(text) >= _MIN_LENGTH and not text.isdigit()}, key=len, reverse=True
        )

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> "Redactor":
        return cls(secrets_of(environ))

    def __call__(self, text: str) -> str:
        for secret in self._known:
            if secret in text:
                text = text.replace(secret, self._token(secret))
        for pattern in SECRET_TEXT:
            text = pattern.sub(self._replace, text)
        return text

    def in_place(self, data: bytes) -> bytes:
        """The bytes with each character of a secret replaced by x, so that offsets do not move."""
        text = data.decode("latin-1")
        for secret in self._known:
            plain = secret.encode("utf-8", "surrogateescape").decode("latin-1")
            text = text.replace(plain, "x" * len(plain))
        text = OPTION.sub(_overwritten, text)  # in a command line of /proc, option and value are separate texts
        return _PRINTED.sub(lambda run: _without_secrets(run[0]), text).encode("latin-1")

    def environ(self, environ: Mapping[str, str]) -> dict[str, str]:
        return {
            name: self._token(value) if is_secret_name(name) and value else self(value)
            for name, value in environ.items()
        }

    def _replace(self, match: re.Match[str]) -> str:
        secret = match.groupdict().get("value") or match[0]
        if secret.startswith("<redacted:"):
            return match[0]
        return match[0].replace(secret, self._token(secret))

    def _token(self, secret: str) -> str:
        import hashlib  # these load OpenSSL, and few texts contain a secret
        import hmac

        digest = hmac.new(self._key, secret.encode("utf-8", "surrogateescape"), hashlib.sha256).hexdigest()
        return f"<redacted:{digest[:8]}>"


def _without_secrets(text: str) -> str:
    for pattern in SECRET_TEXT:
        text = pattern.sub(_overwritten, text)
    return text


def _overwritten(match: re.Match[str]) -> str:
    secret = match.groupdict().get("value") or match[0]
    return match[0].replace(secret, "x" * len(secret))


def secrets_of(environ: Mapping[str, str]) -> list[str]:
    """The values of the variables with secret names."""
    return [value for name, value in environ.items() if is_secret_name(name)]


def is_secret_name(name: str) -> bool:
    """Whether a variable with this name holds a secret."""
    return SECRET_NAME.search(name) is not None


def is_secret_key(name: str) -> bool:
    """Whether a configuration key with this name holds a secret: `API_KEY` does, `prompt_key` names a column."""
    return is_secret_name(name) and (name.isupper() or "api" in name.lower() or not name.lower().endswith("key"))
