"""PyTorch's compiler, which writes kernels for Triton: a pointwise function, and a reduction."""

import torch

FACTOR = 3


def watch(note):
    """Its compiles are those of ptxas."""


def install():
    import jitcache.adapters.triton

    assert jitcache.adapters.triton.install()


def pointwise(x):
    return torch.relu(x * FACTOR - 1000) + x


def reduced(x):
    return (x * FACTOR).sum(dim=1), x.amax(dim=0)


def x():
    return torch.arange(64 * 1000, dtype=torch.int64).reshape(64, 1000)


def launched():
    on = x().cuda()
    found = [torch.compile(pointwise)(on), *torch.compile(reduced)(on)]
    return [t.cpu().numpy().tobytes() for t in found]


def right(results):
    return results == [t.numpy().tobytes() for t in (pointwise(x()), *reduced(x()))]
