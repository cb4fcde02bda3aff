"""How the process that speaks to the model is started: confined by the kernel to what the person's settings need."""

from __future__ import annotations

import os

from steward.config import Settings
from steward.model.confine import abi, worker_ports
from steward.model.gateway import Gateway
from steward.service.finding import Finding
from steward.service.model_settings import clocks_of


def gateway_for(settings: Settings) -> Gateway:
    """A gateway whose worker is held to its files, and to the ports that settings and environment name."""
    ports = worker_ports(os.environ, settings.options, settings.instructions.files)
    return Gateway(clocks=clocks_of(settings), confine=settings.confine, ports=ports)


def confinement(gateway: Gateway, settings: Settings) -> Finding:
    """What the kernel holds the worker to; ask when it is ready."""
    if gateway.confined:
        return Finding("confinement", "ok", f"The kernel holds the worker to its own {gateway.confined}.")
    if not settings.confine:
        return Finding(
            "confinement",
            "warn",
            "Not confined by the kernel: confine is off in your settings.",
            "Set it to true.",
        )
    why = "this kernel has no Landlock" if not abi() else "the kernel did not take the rules"
    return Finding(
        "confinement", "warn", f"Not confined by the kernel: {why}.", "The other bounds hold without it."
    )
