// Which variables a build is given.

package record

import (
	"slices"
	"strings"
	"testing"
)

// names returns the names of an environment, with blanks between.
func names(env []string) string {
	var all []string
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		all = append(all, name)
	}
	return strings.Join(all, " ")
}

func of(names ...string) (env []string) {
	for _, name := range names {
		env = append(env, name+"=1")
	}
	return env
}

func filter(t *testing.T, words ...string) Filter {
	f, err := ParseFilter(words)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

//jitcache:control nonumerical
func TestVariablesOfRunningLibrariesAreNotGivenToBuilds(t *testing.T) {
	for _, name := range []string{
		"OMP_NUM_THREADS", "OMP_PLACES", "KMP_AFFINITY", "GOMP_CPU_AFFINITY", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "NUMEXPR_MAX_THREADS",
		"MKL_NUM_THREADS", "MKL_DOMAIN_NUM_THREADS", "MKL_DYNAMIC", "MKL_CBWR", "PETSC_OPTIONS", "MALLOC_ARENA_MAX", "MALLOC_CONF", "NCCL_DEBUG", "NCCL_IB_HCA",
		"VECLIB_MAXIMUM_THREADS", "RAYON_NUM_THREADS", "FI_PROVIDER", "UCX_TLS", "PYTORCH_CUDA_ALLOC_CONF", "I_MPI_DEBUG", "I_MPI_PIN_DOMAIN", "TORCH_NCCL_BLOCKING_WAIT",
	} {
		if kept := Withhold(of(name, "HOME")); names(kept) != "HOME" {
			t.Errorf("%s: %q", name, kept)
		}
		if kept := names(filter(t, "+"+name).OfBuild(of(name, "SLURM_JOB_ID"))); kept != name {
			t.Errorf("%s, which is asked for: %q", name, kept)
		}
	}
}

func TestVariablesThatBuildsObeyAreGiven(t *testing.T) {
	obeyed := []string{
		"CC", "CFLAGS", "OMPI_CC", "MPICH_CC", "I_MPI_CC", "I_MPI_DEBUG_INFO_STRIP", "MKLROOT", "MKL_ROOT", "MKL_DIR", "NCCL_ROOT", "NCCL_HOME", "NCCL_INCLUDE_DIR", "NCCL_LIB_DIR", "UCX_DIR",
		"OPENBLAS_HOME", "TORCH_CUDA_ARCH_LIST", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_HOME", "PETSC_DIR", "PETSC_ARCH", "MAX_JOBS", "MY_RUN",
	}
	if kept := Withhold(of(obeyed...)); !slices.Equal(kept, of(obeyed...)) {
		t.Error(kept)
	}
	all := (&Surroundings{Env: Withhold(of(obeyed...))}).variables(AllVariables, nil)
	if len(all) != len(obeyed) {
		t.Errorf("%d of %d count", len(all), len(obeyed))
	}
}

//jitcache:control nostrict
func TestStrictGivesWhatToolchainsObeyAndWhatIsNamed(t *testing.T) {
	env := of(
		"PATH", "HOME", "LC_ALL", "CC", "CFLAGS", "LDFLAGS", "OMPI_CC", "MPICH_CC", "I_MPI_CC", "PKG_CONFIG_PATH", "SPACK_CC", "CONDA_PREFIX", "NIX_CFLAGS_COMPILE",
		"LD_LIBRARY_PATH", "PETSC_DIR", "MY_SDK", "OTHER",
	)
	given := func(words ...string) string { return names(filter(t, words...).OfBuild(env)) }
	toolchain := names(env[:len(env)-2])
	if is := given("strict"); is != toolchain {
		t.Error(is)
	}
	if is := given("strict", "+MY_*"); is != toolchain+" MY_SDK" {
		t.Error(is)
	}
	if is := names(filter(t, "strict").OfBuild(of("OMP_NUM_THREADS", "MALLOC_CONF", "PMI_RANK", "MY_RUN"))); is != "" {
		t.Error(is)
	}
}

//jitcache:control nowithheld
func TestWithheldPatternsAreNotGiven(t *testing.T) {
	env := of("CC", "WANDB_RUN", "WANDB_DIR", "LAB_NAME")
	f := filter(t, "-WANDB_*", "+WANDB_DIR", "-LAB_NAME")
	if is := names(f.OfBuild(env)); is != "CC" {
		t.Error(is)
	}
	if is := names(f.OfLaunched(env)); is != "CC" {
		t.Error(is)
	}
	if is := (Filter{}).OfLaunched(of("OMP_NUM_THREADS", "SLURM_JOB_ID")); len(is) != 2 {
		t.Errorf("a launched command lacks what it may need: %q", is)
	}
}

func TestWordsOfFiltersAreReadBackAndOthersRefused(t *testing.T) {
	words := []string{"strict", "+A", "-B*"}
	if got := filter(t, words...).Words(); !slices.Equal(got, words) {
		t.Error(got)
	}
	for _, bad := range []string{"", "A", "+", "-", "stric"} {
		if _, err := ParseFilter([]string{bad}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
