"""Engines on this machine alone, started once by a process."""

from __future__ import annotations

import os


def start_ray() -> None:
    """A Ray of its own, whatever else runs here."""
    import ray

    if not ray.is_initialized():
        ray.init(
            "local", num_cpus=os.cpu_count(), include_dashboard=False, log_to_driver=False, configure_logging=False
        )
    ray.data.DataContext.get_current().enable_progress_bars = False
