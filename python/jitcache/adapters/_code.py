"""Code as bytes: what adapters use of ``jitcache._code``."""

from __future__ import annotations

from jitcache._code import PLAIN, Unkeyable, code_of, content_of, folders, is_standard, pack

__all__ = ["PLAIN", "Unkeyable", "code_of", "content_of", "folders", "is_standard", "pack"]
