"""Keys are kept out of what the model is told, and code that only looks like it is left alone."""

from __future__ import annotations

import random
import string
import time
from pathlib import Path

import pytest

from steward.tools.redact import holds_mark, redacted, redacted_bytes, redacts
from steward.workspace import Policy, RepoPath


def chance(length: int, letters: str = string.ascii_letters + string.digits, seed: int = 7) -> str:
    """A text as a provider's dice would throw it; put together here, so that no scanner takes this file for a leak."""
    dice = random.Random(seed)
    return "".join(dice.choice(letters) for _ in range(length - 2)) + "7a"


SHAPES = {
    "Anthropic": "sk-" + "ant-api03-" + chance(90),
    "OpenAI": "sk-" + "proj-" + chance(48),
    "OpenAI old": "sk-" + chance(48),
    "GitHub": "ghp" + "_" + chance(36),
    "GitHub fine": "github" + "_pat_" + chance(82),
    "GitLab": "glpat" + "-" + chance(20),
    "AWS": "AKIA" + chance(16, string.ascii_uppercase + string.digits).upper(),
    "Google": "AIza" + chance(35),
    "Slack": "xoxb" + "-" + chance(50),
    "Hugging Face": "hf" + "_" + chance(34),
    "Groq": "gsk" + "_" + chance(52),
    "xAI": "xai" + "-" + chance(80),
    "npm": "npm" + "_" + chance(36),
    "PyPI": "pypi" + "-AgE" + chance(160),
    "Stripe": "sk" + "_live_" + chance(24),
    "SendGrid": "SG" + "." + chance(22) + "." + chance(43),
    **{f"GitHub {kind}": f"gh{kind}" + "_" + chance(36) for kind in "ousr"},
    **{f"GitLab {kind}": f"gl{kind}" + "-" + chance(20) for kind in ("dt", "rt", "ptt", "oas")},
    "AWS for a session": "ASIA" + chance(16, string.ascii_uppercase + string.digits).upper(),
    "Google access": "ya29" + "." + chance(40),
    "Google client": "GOCSPX" + "-" + chance(28),
    **{f"Slack {kind}": f"xox{kind}" + "-" + chance(50) for kind in "aeprs"},
    "Slack hook": "hooks.slack" + ".com/services/T0AB/B0CD/" + chance(24),
    **{
        f"model {start}": start + chance(48) for start in ("xai_", "pplx-", "nvapi-", "r8_", "fw_", "tgp_v1_")
    },
    "Docker": "dckr" + "_pat_" + chance(27),
    "Stripe restricted": "rk" + "_live_" + chance(24),
    "Stripe hook": "whsec" + "_" + chance(32),
    **{
        f"Shopify {kind}": f"shp{kind}" + "_" + chance(32, "0123456789abcdef")
        for kind in ("at", "ca", "pa", "ss")
    },
    **{f"DigitalOcean {kind}": f"do{kind}" + "_v1_" + chance(64, "0123456789abcdef") for kind in "opr"},
    "age": "AGE-SECRET-KEY" + "-1" + chance(58, string.ascii_uppercase + string.digits).upper(),
    "JWT": "eyJ" + chance(30) + ".eyJ" + chance(60) + "." + chance(43),
}
CONTEXTS = [
    'key = "{}"',
    "KEY={}\n",
    "- {}",
    "({})",
    "client('{}')",
    "3\tcurl -H 'Authorization: Bearer {}'",
    "{}",
]


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("context", CONTEXTS)
def test_a_key_of_a_known_shape_is_redacted_wherever_it_stands(name: str, context: str) -> None:
    text = context.format(SHAPES[name])
    clean = redacted(text)
    assert SHAPES[name] not in clean and holds_mark(clean)
    before, after = context.split("{}")
    assert clean.startswith(before) and clean.endswith(after)


@pytest.mark.parametrize(
    "text",
    [
        'password = "{}"', "DB_PASSWORD={}", "  secret: {}\n", '"client_secret": "{}",', "API_KEY: str = '{}'",
        "export AUTH_TOKEN={}", "apiKey: `{}`", "signing-key = {}", "token => '{}'", "os.environ['X_TOKEN'] = '{}'",
    ],
)  # fmt: skip
def test_a_value_of_chance_under_a_telling_name_is_redacted(text: str) -> None:
    for value in (chance(24), chance(40, "0123456789abcdef"), chance(44) + "=="):
        assert value not in redacted(text.format(value)), text


@pytest.mark.parametrize(
    "text",
    [
        "token = get_token_from_request(request)", 'password = "correct horse battery staple"',
        "secret_name = 'production/database/password'", "TOKEN_URL = 'https://auth.example.com/oauth2/v1/token'",
        "api_key=os.environ['OPENAI_API_KEY']", "tokens = tokenizer.encode(text)", "token: str | None = None",
        "sha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'",
        "commit 3a0cd2b5e9f1c8d7a6b4e2f0918273645544332211", "password=********************",
        "API_KEY=your-api-key-goes-here-1", "secret = settings.SECRET_KEY_FALLBACKS_2", "sk-learn-contrib-version-1",
        "class TokenBucketRateLimiter2Strategy:", "https://user:password@example.com/", "http://a:b@h/",
        "token_type_ids=token_type_ids_for_layer1", "public_key = 'x'", "-----BEGIN CERTIFICATE-----\nMIIB\n",
        "tyzhu/fw_baseline_squad_train_10000_eval_100_gpt2-large", "xai-org-model-names-like-this-one-2-are-not-keys",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
    ],
)  # fmt: skip
def test_code_that_only_speaks_of_keys_is_left_alone(text: str) -> None:
    assert redacted(text) == text


@pytest.mark.parametrize("prefix", ["", "12\t", "    ", "+"])
@pytest.mark.parametrize("kind", ["RSA ", "", "OPENSSH ", "EC ", "ENCRYPTED "])
def test_a_private_key_loses_its_body_and_keeps_its_lines(prefix: str, kind: str) -> None:
    body = [chance(64, seed=n) for n in range(5)] + [chance(20) + "=="]
    lines = [f"-----BEGIN {kind}PRIVATE KEY-----", *body, f"-----END {kind}PRIVATE KEY-----", "after = 1"]
    text = "\n".join(prefix + line for line in lines)
    clean = redacted(text)
    assert not any(line in clean for line in body)
    assert clean.count("\n") == text.count("\n") and clean.endswith("after = 1")
    # A piece that begins or ends in the middle of it is no way around.
    assert not any(line in redacted("\n".join(text.split("\n")[3:])) for line in body[2:])
    assert not any(line in redacted("\n".join(text.split("\n")[:4])) for line in body[:3])


def test_a_private_key_on_one_line_is_redacted() -> None:
    body = chance(64) + "\\n" + chance(64, seed=8)
    clean = redacted(f'KEY = "-----BEGIN PRIVATE KEY-----\\n{body}\\n-----END PRIVATE KEY-----\\n"')
    assert body not in clean and chance(64) not in clean


def test_a_password_in_a_url_is_redacted_and_its_user_is_not() -> None:
    assert redacted("postgres://admin:hunter2hunter@db/x") == "postgres://admin:[redacted password]@db/x"


def test_bytes_of_any_encoding_keep_all_else() -> None:
    data = b"\xff\xfe latin \xe9\r\n" + f"token = '{chance(30)}'\r\n".encode() + b"\x80 end"
    clean = redacted_bytes(data)
    assert clean.startswith(b"\xff\xfe latin \xe9\r\ntoken = '[redacted token]'\r\n") and clean.endswith(
        b"\x80 end"
    )
    plain = b"nothing here"
    assert redacted_bytes(plain) is plain


def test_settings_open_single_paths() -> None:
    policy = Policy(unredacted=("tests/", "*.example"))
    assert not redacts(policy, RepoPath.parse("tests/keys.py"))
    assert not redacts(policy, RepoPath.parse("deep/env.example"))
    assert redacts(policy, RepoPath.parse("src/app.py"))
    assert not redacts(Policy(redact=False), RepoPath.parse("src/app.py"))


def test_odd_texts_take_no_longer_than_plain_ones() -> None:
    texts = ["token=" * 40_000, "eyJ" * 80_000, "sk-" * 80_000, "a" * 250_000 + "token", "://" * 80_000 + "@",
             "-----BEGIN PRIVATE KEY-----\n" * 8_000, "password: " + "A1" * 100_000,
             "\u0130token=" * 30_000]  # fmt: skip
    for text in texts:
        began = time.process_time()
        redacted(text)
        assert time.process_time() - began < 5, text[:20]


def test_almost_nothing_of_the_standard_library_is_taken_for_a_key() -> None:
    # tests/bench/redaction.py measures any tree, and shows every line that it marks.
    marked: list[str] = []
    for path in sorted(Path(string.__file__).parent.glob("*.py")):
        data = path.read_bytes()
        if redacted_bytes(data) is not data:
            marked.append(path.name)
    assert marked == []
