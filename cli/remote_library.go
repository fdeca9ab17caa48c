//go:build cgo

package cli

import "github.com/peterbourgon/ff/v3/ffcli"

// locate does nothing: who has loaded the library knows where the helper of remotes is.
func locate() {}

func (c *command) remote() *ffcli.Command {
	return c.new("remote", "look at and look after the remotes", nil, 0, 1<<16, func([]string) error {
		return no("the program jitcache does this, which is installed with the library")
	})
}
