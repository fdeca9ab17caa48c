// Ranks and jobs are one world.

package record

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// What launchers tell each rank is not told to a compiler, and does not count: the
// ranks of a job, the next job's, and a process by itself are one world.
func TestRanksAndJobsAreOneWorld(t *testing.T) {
	launchers := [][]string{
		{"mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-mca", "btl", "self"},
		{"mpiexec.mpich"},
	}
	for _, l := range launchers {
		t.Run(l[0], func(t *testing.T) {
			if _, err := exec.LookPath(l[0]); err != nil {
				t.Skip("no " + l[0])
			}
			outside := (&Surroundings{Env: Withhold(os.Environ())}).variables(AllVariables, nil)
			for range 2 {
				command := exec.Command(l[0], append(l[1:], "-np", "2", "sh", "-c", `env -0 >"$1"/$$`, "-", t.TempDir())...)
				folder := command.Args[len(command.Args)-1]
				if out, err := command.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				ranks, _ := os.ReadDir(folder)
				if len(ranks) != 2 {
					t.Fatalf("%d ranks", len(ranks))
				}
				for _, rank := range ranks {
					text, _ := os.ReadFile(folder + "/" + rank.Name())
					env := strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
					if slices.Equal(env, os.Environ()) {
						t.Fatal("the launcher says nothing: the test proves nothing")
					}
					if why := difference(outside, (&Surroundings{Env: Withhold(env)}).variables(AllVariables, nil)); why != "" {
						t.Error(why)
					}
				}
			}
		})
	}
}

func TestVariablesOfSchedulersDoNotCountAndThoseOfWrappersDo(t *testing.T) {
	job := []string{
		"SLURM_JOB_ID=7", "SLURM_PROCID=1", "PMI_RANK=1", "PMIX_RANK=1", "OMPI_COMM_WORLD_RANK=1", "PALS_RANKID=1", "FLUX_TASK_RANK=1",
		"PBS_JOBID=7", "LSB_JOBID=7", "KUBERNETES_PORT=1", "REDIS_SERVICE_HOST=a", "UW_JIT_CACHE_DIR=/a", "JITCACHE_DIR=/a",
	}
	all := func(env []string) []Variable { return (&Surroundings{Env: Withhold(env)}).variables(AllVariables, nil) }
	if why := difference(all([]string{"HOME=/"}), all(append([]string{"HOME=/"}, job...))); why != "" {
		t.Error(why)
	}
	for _, v := range []string{"OMPI_CC", "OMPI_CFLAGS", "MPICH_CC", "MPICC_PROFILE", "I_MPI_CC", "CRAY_CPU_TARGET", "SPACK_CC", "OWN"} {
		if difference(all(nil), all([]string{v + "=1"})) == "" {
			t.Errorf("%s does not count", v)
		}
	}
}
