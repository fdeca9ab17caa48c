// `jitcache remote push`: sends the entries of the directory to the remotes.

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"jitcache/bundle"
	"jitcache/cli"
	"jitcache/core/store"
)

const pushHelp = `WHAT is a kind, a name, a pattern of names, or the first eight or more digits of a key. Without WHAT
everything is sent that another machine can use. It goes to all remotes that are written to; JITCACHE_REMOTE
names others for this once. A remote that wants signatures gets no entry that nobody has signed: see
` + "`jitcache sign`" + `.`

func pushCommand(s cli.Shell) *ffcli.Command {
	flags := s.Flags("push")
	timeout := flags.Duration("timeout", 10*time.Minute, "wait at most `D` until all is sent, as 30s or 5m")
	cmd := s.New(cli.PushUsage, cli.PushHelp, flags, 0, 1<<16, func(args []string) error { return push(s, args, *timeout) })
	cmd.Name = "push"
	cmd.LongHelp = pushHelp
	return cmd
}

func push(s cli.Shell, wanted []string, timeout time.Duration) error {
	cache, _, err := s.Open()
	if err != nil {
		return err
	}
	defer cache.Close()
	writes := false
	for _, r := range cache.Remotes() {
		writes = writes || r.Writes
	}
	if !writes {
		return s.No("no remote is written to; see `jitcache remote status`")
	}
	ids, err := bundle.Choose(context.Background(), cache, bundle.Wanted{Words: wanted})
	if err != nil {
		return s.No(err.Error())
	}
	p, done := s.Progress("remote push")
	sent := 0
	for i := range ids {
		if cache.Offer(&ids[i]) {
			sent++
		}
		if p != nil {
			p(float64(i+1)/float64(len(ids)), i+1)
		}
	}
	done()
	left := append([]string{}, cache.FlushRemotes(timeout)...)
	unsigned := len(ids) - sent
	stdout, _ := s.Streams()
	err = s.Answer(map[string]any{"entries": sent, "not_signed": unsigned, "waiting": left}, func() {
		if len(left) == 0 {
			fmt.Fprintf(stdout, "sent %s\n", store.FormatEntries(sent))
		}
	})
	switch {
	case err != nil:
		return err
	case len(left) > 0:
		return s.No("entries still wait to be sent to " + strings.Join(left, ", "))
	case unsigned > 0:
		return s.No(store.FormatEntries(unsigned) + " not sent: nobody has signed them (`jitcache sign` does), or the directory cannot be written")
	}
	return nil
}
