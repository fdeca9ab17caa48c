"""What a change can reach: which areas of the tests stand on the files that it changes.

``rooms`` reads the tables of ARCHITECTURE.md, ``changes`` asks git what differs from the
commit in .ci/base, ``machine`` says what else a result depends on, ``choice`` decides
for each area what of it runs, and ``rows`` is pytest's side of that.
"""
