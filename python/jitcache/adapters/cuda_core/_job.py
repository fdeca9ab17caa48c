"""Jobs: what a caller of ``compile_program`` asks for, and the ObjectCode of the result."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any, NamedTuple

from cuda.core import ObjectCode, Program

if TYPE_CHECKING:
    from collections.abc import Sequence

TARGETS = {"cubin": ObjectCode.from_cubin, "ptx": ObjectCode.from_ptx, "ltoir": ObjectCode.from_ltoir}

#: Why something was left to cuda.core, or not kept, and how often.
REASONS: collections.Counter[str] = collections.Counter()


class Job(NamedTuple):
    """The arguments of a caller."""

    source: Any
    code_type: Any
    options: Any
    target: Any
    name_expressions: Sequence[str | bytes]
    logs: Any

    def by_cuda_core(self) -> Any:
        """Compile with cuda.core, which raises for bad arguments."""
        program = Program(self.source, self.code_type, self.options)
        try:
            return program.compile(self.target, self.name_expressions, self.logs)
        finally:
            program.close()


def object_code(job: Job, data: bytes, symbols: dict[Any, bytes]) -> Any:
    """Return the result of a job as an ObjectCode."""
    name = job.options.name
    return TARGETS[job.target](data, name="default_program" if name is None else name, symbol_mapping=symbols)
