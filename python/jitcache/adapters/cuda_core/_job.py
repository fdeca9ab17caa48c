"""What a caller of ``compile_program`` asks for, and what it comes to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from cuda.core import ObjectCode, Program

if TYPE_CHECKING:
    from collections.abc import Sequence

TARGETS = {"cubin": ObjectCode.from_cubin, "ptx": ObjectCode.from_ptx, "ltoir": ObjectCode.from_ltoir}


class Job(NamedTuple):
    """What a caller asks for, as it was given."""

    source: Any
    code_type: Any
    options: Any
    target: Any
    name_expressions: Sequence[str | bytes]
    logs: Any

    def by_cuda_core(self) -> Any:
        """Have cuda.core compile it, or say what is wrong with it."""
        program = Program(self.source, self.code_type, self.options)
        try:
            return program.compile(self.target, self.name_expressions, self.logs)
        finally:
            program.close()


def object_code(job: Job, data: bytes, symbols: dict[Any, bytes]) -> Any:
    """Return what a job has made as an ObjectCode."""
    name = job.options.name
    return TARGETS[job.target](data, name="default_program" if name is None else name, symbol_mapping=symbols)
