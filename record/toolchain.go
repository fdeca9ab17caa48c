package record

// toolchain are the variables that a strict build is given beside those that known programs document (documented): where
// programs, libraries and the user's settings are, and what compilers, their wrappers and build systems obey.
var toolchain = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TMP", "TEMP", "TZ", // environ(7)
	"XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_DATA_DIRS", // XDG Base Directory Specification
	// GNU make, "Variables Used by Implicit Rules"; Autoconf, "Preset Output Variables".
	"CC", "CXX", "CPP", "CXXCPP", "FC", "F77", "F90", "LD", "AR", "AS", "NM", "RANLIB", "STRIP", "OBJCOPY", "OBJDUMP", "INSTALL",
	"CFLAGS", "CXXFLAGS", "CPPFLAGS", "FFLAGS", "FCFLAGS", "F90FLAGS", "LDFLAGS", "LDLIBS", "LIBS", "LFLAGS", "ARFLAGS", "ASFLAGS", "DEFS",
	// Python, setuptools and sysconfig; Cython; NumPy's and Meson's builds.
	"PYTHON*", "_PYTHON_*", "VIRTUAL_ENV", "LDSHARED", "LDCXXSHARED", "BLDSHARED", "CCSHARED", "OPT", "BASECFLAGS", "ARCHFLAGS", "DISTUTILS_*",
	"SETUPTOOLS_*", "CYTHON_*", "NPY_*", "MESON*", "NINJA",
	// cmake-env-variables(7), pkg-config(1).
	"CMAKE_*", "*_ROOT", "PKG_CONFIG*", "PETSC_DIR", "SLEPC_DIR", "HDF5_DIR",
	// MPI's compiler wrappers: Open MPI (beside OMPI_* in documented), MPICH's mpicc(1), Intel MPI, Cray's cc(1).
	"MPICC", "MPICXX", "MPIFC", "MPIFORT", "MPI_HOME", "MPICC_*", "MPICXX_*", "MPIFORT_*", "MPIF77_*", "MPIF90_*", "CRAY_*", "CRAYPE_*", "PE_*",
	// Package managers that put a toolchain together.
	"SPACK_*", "CONDA_*", "NIX_*", "EBROOT*", "EBVERSION*", "GUIX_*", "HOMEBREW_*",
	// CUDA: nvcc's manual, "NVCC Environment Variables"; torch.utils.cpp_extension; ROCm; oneAPI; NVIDIA's HPC compilers.
	"NVCC", "NVCC_*", "NVCCFLAGS", "CUDA_HOME", "CUDA_PATH", "CUDACXX", "CUDAFLAGS", "CUDAHOSTCXX", "CUDAARCHS", "CUDA_VISIBLE_DEVICES",
	"CUDA_DEVICE_ORDER", "TORCH_CUDA_ARCH_LIST", "PYTORCH_ROCM_ARCH", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "HIPCC_*", "HSA_*",
	"MKLROOT", "ONEAPI_*", "NVHPC*", "NVCOMPILER_*", "PETSC_ARCH", "SLEPC_ARCH",
	"LM_LICENSE_FILE", "*_LICENSE_FILE", // a compiler that has no licence makes nothing
}
