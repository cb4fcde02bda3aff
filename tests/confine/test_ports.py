"""Which ports the worker is left with, by model, options and environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from steward.confine.landlock import Grant
from steward.confine.ports import LOCAL, local_ports, ports_in, ports_of
from steward.confine.worker import worker_grants
from steward.model.worker import hosts

NONE: set[int] = set()


@pytest.mark.parametrize(
    ("value", "ports"),
    [
        ("http://127.0.0.1:11434/v1", {11434}), ("proxy.example:3128", {3128}), ("http://u:p@h:8080", {8080}),
        ("https://api.example.com/v1", {443}), ("http://api.example.com", {80}), ("http://[::1]:9000/x", {9000}),
        ("a:b:c", NONE), ("12:34", {34}), ("http://[bad", NONE), ("plain text", NONE),
        ({"api_base": "http://h:1", "more": ["https://i:2/"]}, {1, 2}), ("x:99999", NONE), (7, NONE),
    ],
)  # fmt: skip
def test_ports_are_taken_from_addresses(value: Any, ports: set[int]) -> None:
    assert ports_in(value) == ports


@pytest.mark.parametrize(
    ("model", "options", "environment", "ports"),
    [
        ("", {}, {}, NONE), ("offline/guide", {}, {}, NONE), ("script/x.jsonl", {}, {}, NONE),
        ("openai/gpt-4o", {}, {}, {443}), ("gpt-4o", {}, {}, {443}),
        ("openai/x", {"api_base": "http://127.0.0.1:5000/v1"}, {}, {5000}),
        ("openai/x", {"base_url": "https://models.example/v1"}, {}, {443}),
        ("openai/x", {}, {"OPENAI_BASE_URL": "http://127.0.0.1:5001/v1"}, {5001}),
        ("openai/x", {"api_base": "http://h:1"}, {"OPENAI_BASE_URL": "http://127.0.0.1:5001/v1"}, {1}),
        ("openai/x", {}, {"AZURE_API_BASE": "http://h:9/"}, {443}),
        ("gpt-4o", {}, {"OPENAI_API_BASE": "http://h:9/"}, {9, 443}),
        ("ollama/q", {}, {}, {11434}), ("ollama/q", {}, {"OLLAMA_API_BASE": "http://gpu:7000"}, {7000}),
        ("lm_studio/q", {}, {}, {1234}), ("llamafile/q", {}, {}, {8080}), ("hosted_vllm/q", {}, {}, {8000}),
        ("openai/x", {}, {"HTTPS_PROXY": "http://proxy:3128", "no_proxy": "h:77"}, {443, 3128}),
        ("bedrock/x", {}, {}, {80, 443}),
    ],
)  # fmt: skip
def test_a_model_has_the_ports_of_its_host_and_no_others(
    model: str, options: dict[str, object], environment: dict[str, str], ports: set[int]
) -> None:
    assert ports_of(model, options, environment) == ports


def test_every_server_that_is_looked_for_on_this_machine_can_be_reached() -> None:
    for provider, (variable, base) in hosts.LOCAL.items():
        assert ports_in(base) == {LOCAL[provider]} <= local_ports({}, {})
        assert 7001 in local_ports({}, {variable: "http://127.0.0.1:7001"})
    assert 7002 in local_ports({"api_base": "http://127.0.0.1:7002/v1"}, {})


def read(models: str, **environment: str) -> set[str]:
    """What the worker reads of the home directory and beyond the system."""
    home = Path("/home/ada")
    grants = list(worker_grants({"HOME": str(home), **environment}, models))
    return {str(grant.path.relative_to(home)) for grant in grants if grant.path.is_relative_to(home)}


def test_the_worker_reads_credentials_only_of_the_providers_it_serves() -> None:
    assert read("") == read("openai/x,anthropic/y") == set()
    assert read("bedrock/x") == {".aws"}
    assert read("openai/x,vertex_ai/y") == {".config/gcloud"}
    assert read("azure/x") == {".azure"} and read("oci/x") == {".oci"}
    key = {"GOOGLE_APPLICATION_CREDENTIALS": "/home/ada/key.json"}
    assert read("openai/x", **key) == set() and read("gemini/x", **key) == {".config/gcloud", "key.json"}
    assert read("", SSL_CERT_FILE="/home/ada/ca.pem") == {"ca.pem"}


def test_of_the_systems_settings_only_named_files_are_read() -> None:
    paths = {grant.path for grant in worker_grants({}, "")}
    assert Path("/etc/resolv.conf") in paths and Path("/etc/ssl") in paths
    assert not paths & {Path("/"), Path("/etc"), Path("/home"), Path("/tmp"), Path("/run"), Path("/proc")}
    assert Grant(Path("/etc/shadow")) not in worker_grants({}, "")
