"""Adapters: what frameworks that compile while they run need to use jitcache, one file each."""
