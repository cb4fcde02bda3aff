"""Tells when something in the few directories that matter has changed; it never reads them."""

from steward.watch.watcher import Watcher

__all__ = ["Watcher"]
