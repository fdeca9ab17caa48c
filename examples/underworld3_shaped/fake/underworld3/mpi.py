"""The ranks of the job, as underworld3.mpi has them."""

try:
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    rank, size = comm.rank, comm.size
except ImportError:
    comm, rank, size = None, 0, 1
