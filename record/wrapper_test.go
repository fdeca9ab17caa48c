// Open MPI's wrapper is kept, and its variables count.

package record

import (
	"os/exec"
	"strings"
	"testing"

	"jitcache/core/key"
)

// A wrapper compiles with what its variables say. When it starts it lists the
// machine's networks, which is no reason not to keep what it has made.
func TestWrapperOfOpenMPIIsKeptAndItsVariablesCount(t *testing.T) {
	if _, err := exec.LookPath("mpicc.openmpi"); err != nil {
		t.Skip("no mpicc of Open MPI")
	}
	w := newWorld(t)
	w.put("a.c", "int a;\n")
	l, err := w.run("mpicc.openmpi", "-shared", "-fPIC", "a.c", "-o", "a.so") // with its libraries
	if err != nil {
		t.Fatal(err)
	}
	if state, why := l.Check(w.surroundings()); state == Changed {
		t.Fatal(why)
	}
	if l.World.Host != (key.Digest{}) {
		t.Error("the machine's name counts: each machine of a cluster would compile")
	}
	before := w.env
	for _, v := range []string{"OMPI_CC=cc", "OMPI_CFLAGS=-O1", "OMPI_CPPFLAGS=-DA", "OMPI_LDFLAGS=-L/", "OMPI_LIBS=-lm", "OPAL_PREFIX=/"} {
		w.env = append(before, v)
		if state, why := l.Check(w.surroundings()); state != Changed || !strings.Contains(why, "is set now") {
			t.Errorf("%s: %s", v, why)
		}
	}
	for _, v := range []string{"OMPI_COMM_WORLD_RANK=1", "OMPI_MCA_btl=self"} {
		w.env = append(before, v)
		if state, why := l.Check(w.surroundings()); state == Changed {
			t.Errorf("%s: %s", v, why)
		}
	}
}
