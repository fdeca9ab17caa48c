"""Why kernels were left to CuPy, or not kept."""

from __future__ import annotations

import collections

#: Each reason, and how often.
reasons: collections.Counter[str] = collections.Counter()
