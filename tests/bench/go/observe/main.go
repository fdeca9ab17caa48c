// Command observe times commands under the observer. Its argument is the tracer;
// it reads lines of JSON, each a command and how to run it, and prints for each how
// many nanoseconds that took.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"jitcache/observe"
)

// task is a line. How is plain, notices or stops.
type task struct {
	How  string
	Dir  string
	Args []string
}

var tracer string

func main() {
	tracer = os.Args[1]
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var t task
		if err := json.Unmarshal(in.Bytes(), &t); err != nil {
			fail(err)
		}
		took, err := run(t)
		if err != nil {
			fail(err)
		}
		fmt.Println(took.Nanoseconds())
	}
}

func fail(err error) {
	fmt.Fprintf(os.Stderr, "observe: %v\n", err)
	os.Exit(2)
}

// run is the whole of it: from the words of a command to a report that was read.
func run(t task) (time.Duration, error) {
	observe.Tracer = tracer
	if t.How == "plain" {
		observe.Tracer = ""
	}
	begun := time.Now()
	r, err := observe.Start(&observe.Command{
		Args: t.Args, Dir: t.Dir, Env: os.Environ(), Stdin: -1, Stops: t.How == "stops",
	})
	if err != nil {
		return 0, err
	}
	rep, err := r.Report()
	if err != nil {
		return 0, err
	}
	took := time.Since(begun)
	if !rep.Status.Exited() || rep.Status.ExitStatus() != 0 || rep.Unobserved != (t.How == "plain") {
		return 0, fmt.Errorf("%s: %v: status %v, unobserved %v: %s", t.How, t.Args, rep.Status, rep.Unobserved, rep.Err)
	}
	return took, nil
}
