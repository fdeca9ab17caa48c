"""The walk over dependencies: what adapters use of ``jitcache._dependency_walk``."""

from __future__ import annotations

from jitcache._dependency_walk import DependencyWalker

__all__ = ["DependencyWalker"]
