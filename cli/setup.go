// jitcache init and config.

package cli

import (
	"fmt"
	"os"
	"os/user"
	"strconv"

	"github.com/peterbourgon/ff/v3/ffcli"

	"jitcache/core/store"
)

func (c *command) initCommand() *ffcli.Command {
	flags := c.flags("init")
	shared := flags.Bool("shared", false, "share it among the users of a group, who trust each other")
	group := flags.String("group", "", "give it to `GROUP`, a name or number; the default is the group of the directory")
	maxSize := flags.String("max-size", "", "cap of `N` bytes, or 5G, 5Gi; 0 for none")
	mode := flags.String("mode", "", "the octal `MODE` of the directory; default 700, with -shared 2770. 755 lets all users read it")
	return c.newCommand("init [-shared] [-group GROUP] [-max-size N] [-mode MODE] DIR", "make a cache directory", flags, 1, 1, func(args []string) error {
		m := uint64(0o700)
		if *shared {
			m = 0o2770
		}
		var err error
		if *mode != "" {
			if m, err = strconv.ParseUint(*mode, 8, 12); err != nil || m&0o700 != 0o700 || m&^0o2775 != 0 {
				return wrong(fmt.Sprintf("mode %q: want octal digits that give the owner all rights (7) and others none to write", *mode))
			}
		}
		gid := -1
		if *group != "" {
			if gid, err = groupID(*group); err != nil {
				return err
			}
		}
		o := store.Options{Directory: args[0], Trust: store.Trust{Shared: *shared}}
		if *maxSize != "" {
			n, err := store.ParseSize(*maxSize)
			if err != nil {
				return wrong(err.Error())
			}
			o.MaxSize = &n
		}
		if err := makeRoot(args[0], uint32(m), gid); err != nil {
			return err
		}
		s, err := store.Open(o)
		if err != nil {
			return err
		}
		if s.Config().Shared != *shared {
			if err := s.Configure(func(c *store.Config) { c.Shared = *shared }); err != nil {
				return err
			}
		}
		if c.asJSON {
			return c.printJSON(map[string]any{"directory": s.Root(), "shared": *shared})
		}
		fmt.Fprintf(c.stderr, "jitcache: %s is ready\n", s.Root())
		if *shared {
			fmt.Fprintf(c.stderr, "hint: its users set JITCACHE_DIR=%s JITCACHE_SHARED=1\n", s.Root())
		}
		return nil
	})
}

// makeRoot makes the directory, or takes an empty one, and sets its mode, and its group if
// gid is not -1. What is made in it later gets its mode from it.
func makeRoot(dir string, mode uint32, gid int) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	// The descriptor makes sure that the directory which is checked is the one that gets
	// group and mode, even if the path leads elsewhere by then.
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		// An init that was interrupted, or had no space, has left some of these.
		if name != "v1" && name != "CACHEDIR.TAG" && name != "README.txt" {
			return fmt.Errorf("%s is not empty, and not a cache", dir)
		}
	}
	if info, err := os.Stat(dir + "/v1/VERSION"); err == nil && info.Size() > 0 {
		return fmt.Errorf("%s is a cache already; see `jitcache config`", dir)
	}
	if gid >= 0 {
		if err := f.Chown(-1, gid); err != nil {
			return err
		}
	}
	// os.FileMode has another bit for setgid.
	m := os.FileMode(mode & 0o777)
	if mode&0o2000 != 0 {
		m |= os.ModeSetgid
	}
	return f.Chmod(m)
}

func groupID(group string) (int, error) {
	if n, err := strconv.Atoi(group); err == nil && n >= 0 {
		return n, nil
	}
	g, err := user.LookupGroup(group)
	if err != nil {
		return 0, wrong(fmt.Sprintf("group %q: no such group", group))
	}
	return strconv.Atoi(g.Gid)
}

func (c *command) configCommand() *ffcli.Command {
	return c.newCommand("config [max-size N]", "print each setting and where it comes from, or set the cap of the directory", nil, 0, 2, func(args []string) error {
		open := c.openCache
		if len(args) == 2 {
			open = c.openOrMake
		}
		cache, s, err := open()
		if err != nil {
			return err
		}
		cfg := s.Config()
		switch {
		case len(args) == 0:
			return c.printSettings(s.Root(), cfg)
		case args[0] != "max-size":
			return wrong(fmt.Sprintf("%q: no such setting can be changed", args[0]))
		case len(args) == 1:
			return c.printAnswer(map[string]any{"max_size": cfg.MaxSize}, func() { fmt.Fprintln(c.stdout, cfg.MaxSize) })
		}
		if cfg.MaxSize, err = store.ParseSize(args[1]); err != nil {
			return wrong(err.Error())
		}
		if err := s.Configure(func(c *store.Config) { c.MaxSize = cfg.MaxSize }); err != nil {
			return err
		}
		if limit := s.MaxSize(); limit > 0 && s.Usage().Bytes > limit {
			return c.trimNow(cache)
		}
		return c.printAnswer(map[string]any{"max_size": cfg.MaxSize}, func() {})
	})
}

func (c *command) dirCommand() *ffcli.Command {
	return c.newCommand("dir", "print the cache directory", nil, 0, 0, func([]string) error {
		o := c.options()
		dir, rule := o.Directory()
		if dir == "" {
			return no(rule)
		}
		if c.asJSON {
			return c.printJSON(map[string]string{"directory": dir, "rule": rule})
		}
		return c.printPath(dir)
	})
}
