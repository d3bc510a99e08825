"""Texts that are secrets by their form: keys of known services, private keys, addresses of webhooks.

The forms are those that the services document. Each is searched for only where its marker occurs, which costs little
in a text without secrets.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from skyrl_train.contracts.lazy_pattern import LazyPattern

START = r"(?<![A-Za-z0-9_])"
_WORD = "[A-Za-z0-9_-]"


class Form(NamedTuple):
    """`pattern` has a group `value`, or all that it matches is the secret."""

    markers: tuple[str, ...]
    pattern: LazyPattern


def _key(*prefixes: str, rest: str = r"[A-Za-z0-9_-]{16,}") -> Form:
    return Form(prefixes, LazyPattern(f"{START}(?:{'|'.join(map(re.escape, prefixes))}){rest}"))


_PEM = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)"

FORMS = (
    Form(("PRIVATE KEY",), LazyPattern(_PEM, re.DOTALL)),
    Form(("Private-Lines:",), LazyPattern(r"Private-Lines: \d{1,4}\r?\n(?P<value>(?:[A-Za-z0-9+/=]{1,80}(?:\r?\n|\Z))+)")),
    _key("hf_", rest=r"[A-Za-z0-9]{16,}"),
    _key("api_org_", rest=r"[A-Za-z0-9]{20,}"),
    _key("ghp_", "gho_", "ghu_", "ghs_", "ghr_", rest=r"[A-Za-z0-9]{20,}"),
    _key("github_pat_", rest=r"\w{20,}"),
    _key("glpat-", "glptt-", "glrt-", "gldt-", "glcbt-", "glsoat-", "glft-"),
    _key("wandb_v1_", "wandb_v2_", rest=r"\w{16,}"),
    # `sk-learn-contrib-extensions` has no digit.
    Form(("sk-", "pk-", "rk-"), LazyPattern(rf"{START}[spr]k-(?={_WORD}{{0,200}}\d){_WORD}{{16,}}")),
    _key("sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"),
    Form(("AKIA", "ASIA"), LazyPattern(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b")),
    _key("AIza", rest=r"[\w-]{30,}"),
    _key("ya29.", "1//0", rest=r"[\w.-]{20,}"),
    _key("GOCSPX-"),
    _key("xoxa-", "xoxb-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-", rest=r"[\w.-]{10,}"),
    Form((".",), LazyPattern(rf"{START}[MNO][A-Za-z0-9_-]{{23,27}}\.{_WORD}{{6}}\.{_WORD}{{27,40}}")),  # Discord
    Form((":AA",), LazyPattern(r"(?<!\d)\d{8,11}:AA[\w-]{32,34}(?![\w-])")),  # Telegram
    _key("SG.", rest=r"[\w-]{16,}\.[\w-]{32,}"),
    Form(("key-",), LazyPattern(START + r"key-[0-9a-f]{32}\b")),  # Mailgun
    _key("npm_", rest=r"[A-Za-z0-9]{30,}"),
    _key("pypi-AgE"),
    _key("rubygems_", rest=r"[0-9a-f]{40,}"),
    _key("dckr_pat_", "dckr_oat_"),
    _key("dop_v1_", "doo_v1_", "dor_v1_", rest=r"[0-9a-f]{40,}"),
    _key("dapi", rest=r"[0-9a-f]{32}\b"),
    Form(("Q~",), LazyPattern(START + r"[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}")),  # Microsoft Entra
    _key("hvs.", "hvb.", "hvr.", rest=r"[\w-]{20,}"),
    Form((".atlasv1.",), LazyPattern(START + r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{40,}")),
    _key("glsa_", "glc_", rest=r"[\w=+/]{20,}"),
    _key("NRAK-"),
    _key("sntryu_", "sntrys_", rest=r"[\w=+/]{20,}"),
    _key("lin_api_", "ntn_", "figd_", "shpat_", "shpss_", "shpca_", "shppa_", "gsk_", "pplx-", "xai-", "nvapi-", "sbp_"),
    _key("r8_", "fw_", "rpa_", "pnu_", rest=r"(?=[A-Za-z0-9]*\d)[A-Za-z0-9]{20,}"),
    Form(("pat",), LazyPattern(START + r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}")),  # Airtable
    _key("tskey-auth-", "tskey-api-", "tskey-client-"),
    _key("ATATT3", "ATCTT3"),
    _key("dp.pt.", "dp.st.", "dp.ct.", rest=r"[\w.]{30,}"),
    _key("AGE-SECRET-KEY-1", rest=r"[A-Z0-9]{50,}"),
    Form(("LTAI",), LazyPattern(START + r"LTAI[A-Za-z0-9]{12,24}\b")),  # Alibaba
    Form(("AKID",), LazyPattern(START + r"AKID(?=[A-Za-z]{0,60}\d)[A-Za-z0-9]{32}\b")),  # Tencent
    _key("AQVN", "EAAA", "EZAK", "EZTK", "AKCp", "cmVmdGtu", rest=r"(?=[A-Za-z]{0,60}\d)[A-Za-z0-9_-]{32,}"),
    _key("pul-", "bkua_", "e2b_", "shippo_live_", "shippo_test_", rest=r"[0-9a-f]{40}\b"),
    _key("PMAK-", rest=r"[0-9a-f]{24}-[0-9a-f]{34}"),
    _key("dt0c01.", "dt0s01.", rest=r"[A-Z0-9]{8,}\.[A-Z0-9]{32,}"),
    _key("sq0atp-", "sq0csp-", "pscale_tkn_", "pscale_pw_", "duffel_live_", "duffel_test_", "CFPAT-", "glagent-", "glimt-"),
    _key("xkeysib-", "xsmtpsib-", rest=r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    Form(("-us",), LazyPattern(START + r"[0-9a-f]{32}-us\d{1,2}\b")),  # Mailchimp
    _key("CLOJARS_", "rdme_", "napi_", "csk-", rest=r"(?=[a-z]{0,60}\d)[a-z0-9]{40,}"),
    _key("pat-na1-", "pat-eu1-", rest=r"[0-9a-f-]{36}"),  # HubSpot
    Form(("SCW",), LazyPattern(START + r"SCW(?=[A-Z]{0,20}\d)[A-Z0-9]{17}\b")),  # Scaleway
    _key("ops_eyJ", rest=r"[\w=-]{40,}"),
    Form(("v1.0-",), LazyPattern(START + r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}")),  # Cloudflare
    _key("lsv2_pt_", "lsv2_sk_", rest=r"[0-9a-f]{32}_[0-9a-f]{10}"),
    _key("ak-", "as-", "pa-", rest=r"(?=[A-Za-z]{0,60}\d)(?=[a-z0-9]{0,60}[A-Z])[A-Za-z0-9]{22,}"),
    _key("fm1_", "fm2_", rest=r"[A-Za-z0-9+/=_-]{40,}"),
    Form(("pat.",), LazyPattern(START + r"pat\.[\w-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}")),  # Harness
    _key("sha256~", rest=r"[\w-]{43}"),  # OpenShift
    _key("SWMTKN-1-", rest=r"[a-z0-9]{40,}-[a-z0-9]{20,}"),
    Form(("token-",), LazyPattern(START + r"token-[a-z0-9]{5}:[a-z0-9]{54}")),  # Rancher
    Form(("GOOG1",), LazyPattern(START + r"GOOG1[A-Z0-9]{20,61}\b")),
    Form(("$",), LazyPattern(r"\$(?:2[abxy]?|5|6|7|y|gy|argon2(?:id|i|d))\$(?P<value>[./A-Za-z0-9$=,+]{30,})")),  # passwords, hashed
    _key("eyJ", rest=r"[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)*"),
    Form(("hooks.slack.com/",), LazyPattern(r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<value>[^\s'\"<]+)")),
    Form(("/api/webhooks/",), LazyPattern(r"discord(?:app)?\.com/api/webhooks/(?P<value>[^\s'\"<]+)")),
    Form((".webhook.office.com/",), LazyPattern(r"\.webhook\.office\.com/\w+/(?P<value>[^\s'\"<]+)")),
    Form((".logic.azure.com",), LazyPattern(r"\.logic\.azure\.com(?::\d+)?/workflows/(?P<value>[^\s'\"<]+)")),
    Form(("/bot/v2/hook/",), LazyPattern(r"/bot/v2/hook/(?P<value>[\w-]+)")),
    Form(("/webhook/send?",), LazyPattern(r"/webhook/send\?key=(?P<value>[\w-]+)")),
    Form(("hooks.zapier.com/",), LazyPattern(r"hooks\.zapier\.com/hooks/catch/(?P<value>[^\s'\"<]+)")),
    Form(("maker.ifttt.com/",), LazyPattern(r"maker\.ifttt\.com/\S{0,200}?/key/(?P<value>[\w-]+)")),
    Form(("/hooks/",), LazyPattern(r"/hooks/(?P<value>[a-z0-9]{26})\b")),  # Mattermost
)  # fmt: skip

_UNKNOWN = LazyPattern(
    rf"{START}(?<!/)(?!sha(?:1|256|384|512)-|chatcmpl-|call_)[A-Za-z][A-Za-z0-9]{{1,15}}(?:[_-][A-Za-z0-9]{{1,12}}){{0,3}}[_-]"
    r"(?P<value>(?=[a-z0-9]{0,99}[A-Z])(?=[A-Z0-9]{0,99}[a-z])(?=(?:[A-Za-z]{0,99}\d{1,99}){3})(?=(?:[A-Za-z0-9]{0,99}?(?:[a-z][A-Z]|[A-Z]\d|\d[a-z])){5})[A-Za-z0-9]{30,}+)(?!/)"
)
"""A key of a service that is not known: most are a short prefix and random letters of both cases and digits. Names in a path and digests look alike."""

_LINE_OF_A_KEY = LazyPattern(
    r"[ \t]*(?P<value>(?=[^\n]*\d)(?=[^\n]*[A-Z])(?=[^\n]*[a-z])[A-Za-z0-9+/]{64,76}={0,2})\s*"
)
"""A line of its own, as logs quote it: it may come from the middle of a private key."""


def spans(text: str) -> Iterator[tuple[int, int]]:
    """The places of texts that are secrets by their form."""
    for form in FORMS:
        if any(marker in text for marker in form.markers):
            for match in form.pattern.compiled.finditer(text):
                yield match.span("value" if "value" in match.re.groupindex else 0)
    if len(text) >= 30:
        for match in _UNKNOWN.compiled.finditer(text):
            yield match.span("value")
    if 64 <= len(text) < 200 and (line := _LINE_OF_A_KEY.compiled.fullmatch(text)):
        yield line.span("value")
