"""Run the worker: ``python -m steward.model.worker``, spoken to by ``steward.model.process``."""

from __future__ import annotations

from steward.model.worker.serve import main

if __name__ == "__main__":
    main()
