"""The version, which keys of Python code have in them."""

__version__ = "0.1.0"
