"""What logs, spans and metrics tell, and that they never tell contents."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from steward.agents_md import Memory, Resolver, Settings
from steward.agents_md.document import Resolution

SECRET = "wombat-4711"

OBSERVED = """
import json, sys
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

exporter, reader = InMemorySpanExporter(), InMemoryMetricReader()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
metrics.set_meter_provider(MeterProvider(metric_readers=[reader]))

from steward.agents_md import Memory, Resolver, Settings
tree = {"AGENTS.md": "wombat-4711\\n", "pkg/AGENTS.md": "wombat-4711 again\\n"}
resolver = Resolver("/repository", files=Memory(tree))
resolver.resolve("pkg/a.py")
resolver.resolve("a.py")
Resolver("/repository", Settings(enabled=False), files=Memory(tree)).resolve("a.py")
try:
    Resolver("/repository", Settings(location="absent.md"), files=Memory(tree))
except FileNotFoundError:
    pass
points = []
for resource in reader.get_metrics_data().resource_metrics:
    for scope in resource.scope_metrics:
        for metric in scope.metrics:
            for point in metric.data.data_points:
                points.append([scope.scope.name, metric.name, metric.unit, dict(point.attributes), point.sum])
spans = [[span.name, dict(span.attributes)] for span in exporter.get_finished_spans()]
print(json.dumps({"spans": spans, "points": points, "all": [s.to_json() for s in exporter.get_finished_spans()]}))
"""


def run(program: str) -> str:
    """What a fresh interpreter prints for ``program``."""
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    ).stdout  # fmt: skip


@pytest.fixture(scope="module")
def observed() -> dict[str, Any]:
    return json.loads(run(OBSERVED))


def test_each_resolution_is_a_span_with_three_attributes_of_few_values(observed: dict[str, Any]) -> None:
    def attributes(state: str, count: str) -> dict[str, str]:
        return {"document.state": state, "document.count": count, "resolution.outcome": "complete"}

    assert observed["spans"] == [
        ["steward.agents_md.resolve", attributes("present", "multiple")],
        ["steward.agents_md.resolve", attributes("present", "one")],
        ["steward.agents_md.resolve", attributes("disabled", "zero")],
    ]


def test_the_size_in_bytes_goes_into_a_histogram_with_the_same_attributes(observed: dict[str, Any]) -> None:
    points = observed["points"]
    assert {(scope, name, unit) for scope, name, unit, _, _ in points} == {
        ("steward.agents_md", "steward.agents_md.context.size", "By")
    }
    assert sorted(total for *_, total in points) == [0, 12, 30]
    for *_, attributes, _ in points:
        assert set(attributes) == {"document.state", "document.count", "resolution.outcome"}


def test_spans_and_metrics_hold_neither_contents_nor_paths(observed: dict[str, Any]) -> None:
    told = json.dumps(observed)
    assert SECRET not in told
    assert "pkg" not in told


def test_logs_tell_locations_and_counts_and_never_contents(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "AGENTS.md").write_text(f"{SECRET}\n")
    (tmp_path / "pkg/AGENTS.md").write_text(f"{SECRET} {'x' * 100}\n")
    (tmp_path / "pkg/CLAUDE.md").write_bytes(SECRET.encode() + b"\xff")
    with caplog.at_level(logging.DEBUG, logger="steward.agents_md"):
        Resolver(tmp_path).resolve("pkg/a.py")
        Resolver(tmp_path, Settings(max_document_bytes=50, files=("absent.md",))).resolve("pkg/a.py")
        Resolver(tmp_path, Settings(max_documents=1)).resolve("pkg/a.py")
    assert "pkg/AGENTS.md" in caplog.text
    assert "2 documents" in caplog.text
    assert SECRET not in caplog.text
    assert {record.levelno for record in caplog.records} == {logging.DEBUG}
    assert {record.name for record in caplog.records} == {"steward.agents_md"}


def test_odd_names_cannot_act_through_a_log(caplog: pytest.LogCaptureFixture) -> None:
    name = "a\x1b]52;c;x\x07\n\u202eb"
    with caplog.at_level(logging.DEBUG, logger="steward.agents_md"):
        Resolver("/repository", files=Memory({f"{name}/AGENTS.md": "x\n"})).resolve(f"{name}/a.py")
    for record in caplog.records:
        assert not any(char in record.getMessage() for char in "\x1b\x07\n\u202e")


@pytest.mark.parametrize(
    "content",
    [f"{SECRET}\n".encode(), SECRET.encode() + b"\xff", SECRET.encode() * 9000, SECRET.encode("utf-16")],
    ids=["fine", "not utf-8", "too large", "utf-16"],
)  # fmt: skip
def test_no_reason_error_or_representation_of_a_report_holds_contents(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_bytes(content)
    heard: list[object] = []
    resolver = Resolver(tmp_path, Settings(max_document_bytes=60_000), heard.append)
    resolution: Resolution = resolver.resolve("a.py")
    told = json.dumps(resolution.to_json()) + repr(resolution.skipped) + repr(resolution.notes) + repr(heard)
    assert SECRET not in told


def test_a_document_does_not_show_its_content_when_it_is_printed() -> None:
    resolver = Resolver("/repository", files=Memory({"AGENTS.md": f"{SECRET}\n"}))
    assert SECRET not in repr(resolver.resolve("a.py"))


HEAVY = (
    "asyncio",
    "tomllib",
    "opentelemetry",
    "pydantic",
    "click",
    "textual",
    "yaml",
    "json",
    "urllib.request",
    "socket",
    "ssl",
)


def test_importing_and_resolving_stay_light() -> None:
    program = (
        "import sys; before = set(sys.modules)\n"
        "import steward.agents_md\n"
        "from steward.agents_md import Resolver\n"
        "Resolver('.').resolve('a.py')\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    loaded = run(program).split()
    assert not [name for name in loaded if name.split(".")[0] in HEAVY or name in HEAVY]
    assert [name for name in loaded if name.startswith("steward")] and not [
        name for name in loaded if name.startswith("steward.") and not name.startswith("steward.agents_md")
    ]


def test_opentelemetry_is_not_imported_for_a_program_that_does_not_use_it() -> None:
    program = (
        "import sys; from steward.agents_md import Resolver; Resolver('.').resolve('.')\n"
        "print('opentelemetry' in sys.modules)"
    )
    assert run(program).strip() == "False"


def test_a_missing_opentelemetry_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    program = (
        "import os, sys; os.environ['OTEL_PYTHON_TRACER_PROVIDER'] = 'x'; sys.modules['opentelemetry'] = None\n"
        "from steward.agents_md import Resolver; print(Resolver('.').resolve('.').outcome)"
    )
    assert run(program).strip() == "complete"
