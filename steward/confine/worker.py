"""What the process that speaks to the model may still use: its program, certificates, name look-up, ports."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from steward.confine.landlock import USE, Grant
from steward.confine.libraries import libraries

# The files by which a machine finds names and knows certificates; of the other files in /etc there is no need.
_SYSTEM = (
    "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/services",
    "/etc/protocols", "/etc/mime.types", "/etc/os-release", "/usr/lib/os-release",
    "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/ca-certificates.conf", "/etc/crypto-policies",
    "/usr/share/ca-certificates", "/usr/local/share/ca-certificates", "/usr/share/pki", "/var/lib/ca-certificates",
    "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager", "/run/nscd", "/etc/static",
    "/sys/fs/cgroup", "/sys/devices/system/cpu", "/proc/cpuinfo", "/proc/meminfo", "/proc/sys/net",
)  # fmt: skip
_NAMES = (Path("/etc/resolv.conf"), Path("/etc/hosts"), Path("/etc/nsswitch.conf"))

_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERTIFICATE",
                 "TIKTOKEN_CACHE_DIR")  # fmt: skip
_AWS = (("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE"), (".aws",))
_GOOGLE = (("GOOGLE_APPLICATION_CREDENTIALS", "VERTEXAI_CREDENTIALS"), (".config/gcloud",))
_AZURE = (("AZURE_FEDERATED_TOKEN_FILE", "AZURE_CLIENT_CERTIFICATE_PATH"), (".azure",))
CREDENTIALS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "bedrock": _AWS,
    "sagemaker": _AWS,
    "vertex_ai": _GOOGLE,
    "gemini": _GOOGLE,
    "azure": _AZURE,
    "oci": ((), (".oci",)),
    "chatgpt": ((), (".config/litellm",)),
    "github_copilot": ((), (".config/litellm",)),
}
"""By the beginning of a provider's name: variables that name files of credentials, and folders below the home."""

WRITES = (Grant(Path("/dev/null"), USE),)
"""What the worker writes to by name; its pipes are open already."""


def worker_grants(environment: Mapping[str, str], models: str = "") -> Iterator[Grant]:
    """What the worker goes on using. ``models`` names those it serves, between commas: their providers' credentials."""
    for path in libraries():
        yield Grant(path)
    for name in _SYSTEM:
        yield Grant(Path(name))
    variables, folders = list[str](_CERTIFICATES), list[str]()
    for model in filter(None, models.split(",")):
        for provider, (named, below) in CREDENTIALS.items():
            if model.startswith(provider):
                variables += named
                folders += below
    for name in variables:
        if environment.get(name, "").startswith("/"):
            yield Grant(Path(environment[name]))
    home = environment.get("HOME", "")
    if home.startswith("/"):
        for name in dict.fromkeys(folders):
            yield Grant(Path(home) / name)
    yield from WRITES


def names_stamp() -> tuple[tuple[int, int], ...]:
    """Changes when a file of name look-up was replaced, as when a machine moves to another network.

    A worker that is held to the old one cannot read the new one.
    """
    found: list[tuple[int, int]] = []
    for path in _NAMES:
        try:
            status = os.stat(path)
        except OSError:
            continue
        found.append((status.st_dev, status.st_ino))
    return tuple(found)
