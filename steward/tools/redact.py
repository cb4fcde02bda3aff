"""Keeps what looks like a key out of what the model is told: each becomes ``[redacted …]``, for both sides."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache

from steward.workspace import Policy, RepoPath
from steward.workspace.ignore import Governing, ignored, parse

MARK = re.compile(r"\[redacted (?:[a-z-]+ )*(?:key|token|password|secret)\]", re.IGNORECASE)
"""What stands in place of a key; text that holds it cannot be what a file holds."""

_SHAPES: tuple[tuple[str, str], ...] = (
    ("Anthropic key", r"sk-ant-[A-Za-z0-9_-]{24,}"),
    ("OpenAI key", r"sk-(?:proj-|svcacct-|admin-|or-v1-)?(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{32,}"),
    ("GitHub token", r"gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,}"),
    ("GitLab token", r"gl(?:pat|dt|rt|ptt|oas)-[A-Za-z0-9_-]{20,}"),
    ("AWS key", r"(?:AKIA|ASIA)[0-9A-Z]{16}"),
    ("Google key", r"AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{30,}|GOCSPX-[A-Za-z0-9_-]{28}"),
    ("Slack token", r"xox[abeprs]-[A-Za-z0-9-]{20,}|hooks\.slack\.com/services/[A-Z0-9]+/[A-Z0-9]+/[A-Za-z0-9]{16,}"),
    ("Hugging Face token", r"hf_[A-Za-z0-9]{32,}"),
    ("Groq key", r"gsk_[A-Za-z0-9]{40,}"),
    ("model key", r"(?:xai|pplx|nvapi|r8|fw|tgp_v1)[-_](?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{40,}"),
    ("npm token", r"npm_[A-Za-z0-9]{36}"),
    ("PyPI token", r"pypi-AgE[A-Za-z0-9_-]{50,}"),
    ("Docker token", r"dckr_pat_[A-Za-z0-9_-]{27}"),
    ("Stripe key", r"(?:sk|rk)_live_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{32,}"),
    ("SendGrid key", r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    ("Shopify token", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    ("DigitalOcean token", r"do[opr]_v1_[a-f0-9]{64}"),
    ("age key", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    ("token", r"eyJ[A-Za-z0-9_-]{15,}\.eyJ[A-Za-z0-9_-]{15,}\.[A-Za-z0-9_-]{20,}"),
)  # fmt: skip
_ALL = re.compile(
    r"(?<![A-Za-z0-9_-])(?:"
    + "|".join(f"(?P<s{n}>{shape})" for n, (_, shape) in enumerate(_SHAPES))
    + r")(?![A-Za-z0-9])"
)
_HINTS = (
    "sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "glpat-", "gldt-", "glrt-", "glptt-", "gloas-", "AKIA", "ASIA",
    "AIza", "ya29.", "GOCSPX-", "hooks.slack", "hf_", "gsk_", "pplx-", "nvapi-", "r8_", "fw_", "npm_", "pypi-AgE",
    "whsec_", "SG.", "AGE-SECRET", "eyJ",
    ("xox", ("xoxa-", "xoxb-", "xoxe-", "xoxp-", "xoxr-", "xoxs-")),
    ("shp", ("shpat_", "shpca_", "shppa_", "shpss_")),
    ("_v1", ("doo_v1_", "dop_v1_", "dor_v1_", "tgp_v1")),
    ("_pat_", ("github_pat_", "dckr_pat_")),
    ("_live_", ("sk_live_", "rk_live_")),
    ("xai", ("xai-", "xai_")),
)  # fmt: skip
"""With one of these each shape begins. Where there are several, they hold the text before them."""

_IN_URL = re.compile(
    r"(?<=://)(?P<user>[^\s/@:'\"<>{}$]{0,64}):(?P<password>[^\s/@,'\"<>{}$%]{6,})(?=@[A-Za-z0-9.-])"
)
_EXAMPLES = frozenset(
    ("password", "passwd", "secret", "pass", "user", "example", "changeme", "xxxxxx", "******")
)

_NAMED = re.compile(
    r"(?P<name>(?:secret|passw(?:or)?d|passphrase|token|api[_-]?key|access[_-]?key|auth[_-]?key"
    r"|private[_-]?key|signing[_-]?key|encryption[_-]?key|credential)[A-Za-z0-9_-]{0,24})[\"']?\]?"
    r"(?P<between>[ \t]{0,8}(?::[ \t]*[A-Za-z_.\[\]|]{1,24}[ \t]*=|:=|=>|[:=])[ \t]{0,8}"
    r"(?:[a-zA-Z]{0,2}(?P<quote>[\"'`]))?)"
    r"(?P<value>[A-Za-z0-9+/=_.~!@#$%^&*-]{16,512})(?![A-Za-z0-9+/=_.~(\[{-])",
    re.IGNORECASE,
)
_NAMES = (
    "secret", "passphrase", "token", "credential",
    ("passw", ("password", "passwd")),
    ("key", (
        "apikey", "api_key", "api-key", "accesskey", "access_key", "access-key", "authkey", "auth_key", "auth-key",
        "privatekey", "private_key", "private-key", "signingkey", "signing_key", "signing-key", "encryptionkey",
        "encryption_key", "encryption-key",
    )),
)  # fmt: skip
_WORDS = re.compile(r"[A-Za-z][a-z]{3,}|[A-Z]{4,}")

_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----")
_BODY = re.compile(r"[A-Za-z0-9+/=]{16,}")


def redacted(text: str) -> str:
    """``text`` with every key in it replaced; the number of lines stays the same.

    Known are the shapes of providers' keys, private keys in PEM, passwords in URLs, and values with the look of
    chance under a name that says key, token, secret or password.
    """
    if "PRIVATE KEY" in text:
        text = _without_private_keys(text)
    text = _replaced(text, _ALL, _places(text, _HINTS), _shape)
    if "://" in text and "@" in text:
        text = _IN_URL.sub(_url, text)
    # The haystack must keep its length, which one capital letter does not when it is made small.
    return _replaced(text, _NAMED, _places(text.replace("\u0130", "I").lower(), _NAMES), _assignment)


def _places(text: str, words: Iterable[str | tuple[str, tuple[str, ...]]]) -> list[int]:
    """Where any of the words stand, in order. Looking for plain words is many times faster than the patterns.

    A tuple is a text that each of some words holds, and these words.
    """
    found: set[int] = set()
    for word in words:
        if isinstance(word, tuple):
            shared, several = word
            if shared in text:
                found.update(_places(text, several))
            continue
        at = text.find(word)
        while at >= 0:
            found.add(at)
            at = text.find(word, at + 1)
    return sorted(found)


def _replaced(
    text: str, pattern: re.Pattern[str], places: list[int], by: Callable[[re.Match[str]], str]
) -> str:
    pieces: list[str] = []
    done = 0
    for place in places:
        if place >= done and (match := pattern.match(text, place)) is not None:
            pieces += (text[done : match.start()], by(match))
            done = match.end()
    return "".join((*pieces, text[done:])) if pieces else text


def redacted_bytes(data: bytes) -> bytes:
    """The same for the bytes of a file, whatever their encoding; gives ``data`` itself when nothing is in it."""
    text = data.decode("latin-1")
    clean = redacted(text)
    return data if clean is text or clean == text else clean.encode("latin-1")


def redacts(policy: Policy, path: RepoPath) -> bool:
    """Whether keys are taken out of what the model is told of this file; the person's settings say so."""
    if not policy.redact:
        return False
    return not policy.unredacted or not _matches(policy.unredacted, path.parts)


@lru_cache(maxsize=4096)
def _matches(patterns: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    rules = parse("\n".join(patterns).encode())
    return any(
        ignored((Governing(rules, 0),), parts[:end], directory)
        for end in range(1, len(parts) + 1)
        for directory in (True, False)
    )


def holds_mark(text: str) -> bool:
    """Whether a text holds a mark of redaction."""
    return MARK.search(text) is not None


def _shape(match: re.Match[str]) -> str:
    name = next(_SHAPES[n][0] for n in range(len(_SHAPES)) if match[f"s{n}"] is not None)
    if match[0].startswith(("sk-", "xai", "pplx", "nvapi", "r8", "fw")) and _entropy(match[0]) < 3.6:
        return match[0]
    if name == "model key" and len(re.findall("[_-]", match[0])) > 4 and not _by_chance(match[0]):
        return match[0]  # a name put together of words, which begins like a key
    return f"[redacted {name}]"


def _url(match: re.Match[str]) -> str:
    password = match["password"]
    if password.lower() in _EXAMPLES or set(password) <= set("x*.") or match["user"] == password:
        return match[0]
    return f"{match['user']}:[redacted password]"


def _assignment(match: re.Match[str]) -> str:
    value = match["value"]
    if match["quote"] is None and not _bare(match):
        return match[0]
    if not _by_chance(value):
        return match[0]
    kind = match["name"].lower()
    what = "password" if "passw" in kind or "phrase" in kind else "token" if "token" in kind else "secret"
    what = "key" if "key" in kind else what
    head = match[0][: match.start("value") - match.start()]
    return f"{head}[redacted {what}]"


def _bare(match: re.Match[str]) -> bool:
    """Whether an unquoted value may be one: in an ``=`` without blanks, or alone behind a colon on its line."""
    text, end = match.string, match.end()
    after = text[end : end + 1]
    return after in ("", "\n", "\r", " ", "\t") and not re.search(r"[()\[\]]|\.[a-z]", match["value"])


def _by_chance(value: str) -> bool:
    """Whether a value has the look of chance: letters and digits mixed, and hardly a word in it."""
    core = value.strip("=._-")
    if len(core) < 16 or not re.search("[0-9]", core) or not re.search("[A-Za-z]", core):
        return False
    if re.fullmatch(r"[0-9a-fA-F-]+", core):
        return len(set(core)) >= 8 and _entropy(core) >= 3.0
    words = sum(len(word) for word in _WORDS.findall(core))
    return _entropy(core) >= 3.5 and words <= len(core) * 0.45


def _entropy(value: str) -> float:
    """Bits for one character."""
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values())


def _without_private_keys(text: str) -> str:
    """The text without the bodies of private keys, also where only the end or the beginning of one is there."""
    lines = text.split("\n")
    inside = False
    for number, line in enumerate(lines):
        begin, end = _BEGIN.search(line), _END.search(line)
        if begin and end and begin.end() <= end.start():
            lines[number] = line[: begin.end()] + "[redacted private key]" + line[end.start() :]
            continue
        if end and not inside:
            _blank(lines, range(number - 1, -1, -1))
        if begin:
            inside = True
            rest = line[begin.end() :]
            lines[number] = line[: begin.end()] + (_BODY.sub("[redacted private key]", rest) if rest else "")
            continue
        if end:
            inside = False
            continue
        if inside:
            if _BODY.search(line) or not line.strip():
                lines[number] = _BODY.sub("[redacted private key]", line)
            elif not re.search(r"[A-Za-z0-9+/=]{4,}[\"'\\nr,+ \t]*$", line) and ":" not in line:
                inside = False
            else:
                lines[number] = re.sub(r"[A-Za-z0-9+/=]{4,}", "[redacted private key]", line, count=1)
    return "\n".join(lines)


def _blank(lines: list[str], numbers: range) -> None:
    for number in numbers:
        if not _BODY.search(lines[number]):
            return
        lines[number] = _BODY.sub("[redacted private key]", lines[number])
