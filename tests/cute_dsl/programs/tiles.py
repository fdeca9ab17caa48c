"""What several programs take from another module."""

ROWS = 4


def columns(threads):
    return threads // ROWS


def scaled(value, factor):
    return value * factor
