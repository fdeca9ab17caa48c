// A forked child can ask for libraries.

package dl

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A host whose threads ask the loader forks children that ask too.
const forker = `
#include "image.h"
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void *asks(void *unused)
{
	for (;;)
		jc_dl_generation();
	return unused;
}

int main(void)
{
	pthread_t thread;
#ifndef FORK_IS_NOT_WATCHED
	pthread_atfork(jc_dl_fork_prepare, jc_dl_fork_parent, jc_dl_fork_child);
#endif
	for (int i = 0; i < 3; i++)
		pthread_create(&thread, NULL, asks, NULL);
	for (int i = 0; i < 300; i++) {
		int status = 1;
		pid_t pid = fork();
		if (pid == 0) {
			alarm(10);
			_exit(jc_dl_generation() == 0);
		}
		if (waitpid(pid, &status, 0) != pid || status != 0)
			return printf("child %d: status %d\n", i, status), 1;
	}
	return 0;
}
`

//jitcache:control noforklock
func TestForkedChildCanAsk(t *testing.T) {
	folder := t.TempDir()
	program := filepath.Join(folder, "forker")
	command := append(compiler(), "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-pthread", "-I.", "-o", program, "image.c", "../../core/mutex/mutex.c", "-x", "c", "-")
	if !forkIsWaited {
		command = append(command, "-DFORK_IS_NOT_WATCHED")
	}
	cmd := exec.Command(command[0], append(command[1:], "-ldl")...)
	cmd.Stdin = strings.NewReader(forker)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command(program).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
