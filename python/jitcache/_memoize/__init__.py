"""``memoize``: the decorator, the functions that it makes, and how their keys are found."""
