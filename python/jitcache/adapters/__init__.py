"""Adapters: jitcache under the caches of other projects."""
