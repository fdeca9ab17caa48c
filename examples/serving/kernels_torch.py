"""A graph of PyTorch that Inductor compiles for the CPU. That of a GPU has kernels of Triton."""

import jitcache.adapters.torch
import torch


def norm(x: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6)


def code(_: int) -> bytes:
    """Return what it computes: the graph is the same for all GPUs."""
    jitcache.adapters.torch.install()
    x = torch.arange(64, dtype=torch.float32).reshape(4, 16)
    found = torch.compile(norm)(x)
    assert torch.allclose(found, norm(x), atol=1e-4)
    return bytes(found.numpy().tobytes())
