package record

// numerical are variables of running numerical libraries: how many threads they use, where these run, what is printed, how
// memory and messages are handled. Their manuals say so, and no build obeys them. A build is not given them, so it is the
// same for every run. What builds obey does not belong here: the CUDA_VISIBLE_DEVICES of -arch=native,
// TORCH_CUDA_ARCH_LIST, MKL_ROOT, NCCL_INCLUDE_DIR. So a prefix stands here only if no build uses it for where
// the library is.
var numerical = []string{
	"OMP_*", // OpenMP API 6.0, "Environment Variables"
	"KMP_*", // LLVM/OpenMP Runtimes and oneAPI C++ Compiler Developer Guide, "Supported Environment Variables"
	"LIBOMPTARGET_*",
	"GOMP_*",           // GNU libgomp, "Environment Variables"
	"*_NUM_THREADS",    // the libraries below, BLIS, NumExpr, Numba, Julia, rayon
	"*_NUM_THREADS_*",  // oneMKL: MKL_DOMAIN_NUM_THREADS and its like for one domain
	"*_MAX_THREADS",    // NumExpr user guide, "Threadpool configuration"
	"VECLIB_MAXIMUM_*", // Accelerate, vecLib(7)
	// oneMKL Developer Guide, "Using Environment Variables"; not MKL_ROOT and MKL_DIR, which CMake obeys.
	"MKL_DYNAMIC", "MKL_CBWR", "MKL_VERBOSE*", "MKL_THREADING_LAYER", "MKL_INTERFACE_LAYER", "MKL_ENABLE_INSTRUCTIONS",
	"MKL_DISABLE_FAST_MM", "MKL_FAST_MEMORY_LIMIT", "MKL_DEBUG_CPU_TYPE", "MKL_NUM_STRIPES", "MKL_MPI_PPN", "MKL_NUMA_NODE",
	"MKL_BLACS_MPI", "MKL_PEAK_MEM_*", "MKL_ALLOCATOR*", "MKL_SERVICE_FORCE_INTEL",
	// OpenBLAS user manual, "Runtime variables".
	"OPENBLAS_MAIN_FREE", "OPENBLAS_CORETYPE", "OPENBLAS_VERBOSE", "OPENBLAS_THREAD_TIMEOUT", "OPENBLAS_BLOCK_FACTOR", "GOTOBLAS_MAIN_FREE",
	"BLIS_ARCH_TYPE", "BLIS_ARCH_DEBUG", "BLIS_JC_NT", "BLIS_PC_NT", "BLIS_IC_NT", "BLIS_JR_NT", "BLIS_IR_NT", // BLIS, Multithreading.md
	"PETSC_OPTIONS", "PETSC_OPTIONS_YAML", // PetscInitialize, PetscOptionsInsert
	"HDF5_USE_FILE_LOCKING", "HDF5_DRIVER", // HDF5 reference manual, H5Pset_file_locking
	"HWLOC_COMPONENTS", "HWLOC_XMLFILE", "HWLOC_SYNTHETIC", "HWLOC_THISSYSTEM", "HWLOC_HIDE_ERRORS", // hwloc, "Environment Variables"
	// Memory: mallopt(3), mtrace(3), jemalloc(3), the manuals of mimalloc, gperftools.
	"MALLOC_*", "MIMALLOC_*", "TCMALLOC_*",
	// NCCL User Guide, "Environment Variables"; not NCCL_ROOT, NCCL_HOME, NCCL_INCLUDE_DIR and NCCL_LIB_DIR.
	"NCCL_ALGO", "NCCL_ALLOC_*", "NCCL_ASYNC_*", "NCCL_BLOCKING_WAIT", "NCCL_BUFFSIZE", "NCCL_CGA_*", "NCCL_CHECK*", "NCCL_COLLNET_*",
	"NCCL_COMM_*", "NCCL_CONF_FILE", "NCCL_CROSS_NIC", "NCCL_CUMEM_*", "NCCL_DEBUG*", "NCCL_DMABUF_*", "NCCL_GDR*", "NCCL_GRAPH_*",
	"NCCL_HOSTID", "NCCL_IB_*", "NCCL_IGNORE_*", "NCCL_LAUNCH_MODE", "NCCL_LOCAL_REGISTER", "NCCL_MAX_*", "NCCL_MIN_*", "NCCL_MNNVL_*",
	"NCCL_NET*", "NCCL_NSOCKS_*", "NCCL_NTHREADS", "NCCL_NVB_*", "NCCL_NVLS_*", "NCCL_OOB_*", "NCCL_P2P_*", "NCCL_PROTO", "NCCL_PXN_*",
	"NCCL_RAS_*", "NCCL_RUNTIME_*", "NCCL_SET_*", "NCCL_SHM_*", "NCCL_SOCKET_*", "NCCL_TOPO_*", "NCCL_TUNER_*", "NCCL_WIN_*",
	// UCX, "Environment Parameters"; not UCX_HOME and UCX_DIR. libfabric, fabric(7) and the pages of its providers.
	"UCX_TLS", "UCX_NET_DEVICES", "UCX_LOG_*", "UCX_IB_*", "UCX_RNDV_*", "UCX_MAX_*", "UCX_MEMTYPE_CACHE", "UCX_WARN_*", "UCX_PROTO_*",
	"FI_PROVIDER", "FI_LOG_*", "FI_HMEM*", "FI_MR_*", "FI_UNIVERSE_SIZE", "FI_CXI_*", "FI_EFA_*", "FI_PSM3_*", "FI_TCP_*", "FI_VERBS_*",
	// Intel MPI Developer Reference, "Environment Variable Reference", without "Compilation": I_MPI_CC, I_MPI_LINK, I_MPI_DEBUG_INFO_STRIP.
	"I_MPI_DEBUG", "I_MPI_PIN*", "I_MPI_FABRICS*", "I_MPI_OFI_*", "I_MPI_SHM*", "I_MPI_ADJUST*", "I_MPI_HYDRA_*", "I_MPI_STATS*",
	// CUDA C++ Programming Guide, "CUDA Environment Variables": those of execution, launch and loading.
	"CUDA_LAUNCH_BLOCKING", "CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_MODULE_LOADING", "CUDA_CACHE_*", "CUDA_MPS_*", "NVIDIA_TF32_OVERRIDE",
	// cuBLAS, "Results Reproducibility"; PyTorch, "CUDA semantics", "ProcessGroupNCCL Environment Variables"; JAX, "GPU memory allocation".
	"CUBLAS_WORKSPACE_CONFIG", "PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "TORCH_NCCL_*", "XLA_PYTHON_CLIENT_*",
}
