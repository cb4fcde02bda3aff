"""The offline guide: no language model, but real searches, real citations and real proposals. Pure functions."""

from steward.model.offline.guide import Guidance, guide

__all__ = ["Guidance", "guide"]
