// The commands of bundles.

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"jitcache/bundle"
	"jitcache/cli"
	"jitcache/core"
	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/store"
)

// bundles are the commands of bundles.
type bundles struct{ cli.Shell }

func bundleCommand(s cli.Shell) *ffcli.Command {
	b := bundles{s}
	top := s.New(cli.BundleUsage, cli.BundleHelp, nil, 0, 1<<20, func([]string) error {
		return s.Wrong("bundle: create, add, list or verify?")
	})
	top.Subcommands = []*ffcli.Command{b.create(), b.add(), b.list(), b.verify()}
	top.LongHelp = "A bundle is a tar archive of entries, compressed by zstd. The entries keep their signatures:\n" +
		"sign them with `jitcache sign` before, so that `jitcache bundle add` knows whose they are."
	return top
}

func (b bundles) create() *ffcli.Command {
	flags := b.Flags("bundle create")
	layer := flags.Bool("dir", false, "make a directory, to be used as a layer")
	image := flags.Bool("oci", false, "make a folder with an OCI image layout")
	since := flags.String("since", "", "only entries that were made or used in the last `TIME`: 30m, 12h, 7d")
	cmd := b.New("bundle create [-dir | -oci] [-since TIME] FILE [WHAT…]", "pack entries into a file", flags, 1, 1<<16, func(args []string) error {
		stdout, stderr := b.Streams()
		make := bundle.Create
		switch {
		case *layer && *image:
			return b.Wrong("-dir or -oci?")
		case args[0] == "-" && (*layer || *image || b.JSON()):
			return b.Wrong("-dir, -oci or -json, or the bundle on standard output?")
		case args[0] == "-":
			make = func(c *core.Cache, ids []key.ID, _ string, p bundle.Progress) (bundle.Packed, error) {
				return bundle.Write(b.Raw(), c, ids, p)
			}
			stdout = stderr
		case *layer:
			make = bundle.CreateLayer
		case *image:
			make = bundle.CreateImage
		}
		want := bundle.Wanted{Words: args[1:]}
		var err error
		if want.Since, err = b.sinceTime(*since); err != nil {
			return err
		}
		cache, s, err := b.Open()
		if err != nil {
			return err
		}
		if m := s.Mount(); m.Network && !want.Since.IsZero() {
			return b.No("-since: uses are not noted on a file system of several machines (" + m.Name + ")")
		}
		ids, err := bundle.Choose(context.Background(), cache, want)
		if err != nil {
			return b.No(err.Error())
		}
		p, done := b.Progress("bundle create")
		packed, err := make(cache, ids, args[0], func(n, all int) {
			if p != nil {
				p(float64(n)/float64(all), n)
			}
		})
		done()
		if err != nil {
			return err
		}
		if packed.Left > 0 {
			fmt.Fprintf(stderr, "jitcache: left out %s that cannot be used; see `jitcache verify`\n", store.FormatEntries(packed.Left))
		}
		return b.Answer(map[string]any{"entries": packed.Entries, "bytes": packed.Bytes, "left_out": packed.Left}, func() {
			fmt.Fprintf(stdout, "%s, %s\n", store.FormatEntries(packed.Entries), store.FormatSize(packed.Bytes))
		})
	})
	cmd.Name = "create"
	cmd.LongHelp = "WHAT is a kind, a name, a pattern of names, or the first eight or more digits of a key.\nWithout WHAT all entries are packed. Each result brings the records that say when it may\nbe used. FILE appears when it is complete; FILE - is standard output.\n\n-since packs what a warm-up has made or used, from the directory alone and not from layers.\nThe cache notes uses at most once an hour, so what was used up to two hours before is packed\ntoo. -since counts from now, so take a longer TIME than the warm-up took."
	return cmd
}

// sinceTime returns the time from which -since means, the zero time for "".
func (b bundles) sinceTime(since string) (time.Time, error) {
	if since == "" {
		return time.Time{}, nil
	}
	span, err := b.TimeSpan("-since", since)
	return time.Now().Add(-span), err
}

// bounds adds the flags that bound what is read.
func (b bundles) bounds(flags *flag.FlagSet) func() (bundle.Bounds, error) {
	size := flags.String("max-size", "", "read at most `N` decompressed bytes, or 5G, 5Gi; the default for add is the directory's cap")
	return func() (bundle.Bounds, error) {
		bounds := bundle.Usual
		if *size != "" {
			n, err := store.ParseSize(*size)
			if err != nil {
				return bounds, b.Wrong(err.Error())
			}
			bounds.Total = n
		}
		return bounds, nil
	}
}

func (b bundles) add() *ffcli.Command {
	flags := b.Flags("bundle add")
	bounds := b.bounds(flags)
	unsigned := flags.Bool("unsigned", false, "take entries that no trusted key has signed")
	cmd := b.New("bundle add [-unsigned] [-max-size N] FILE", "add the entries of a bundle to the directory", flags, 1, 1, func(args []string) error {
		cache, s, err := b.OpenOrMake()
		if err != nil {
			return err
		}
		defer cache.Close()
		o := bundle.AddOptions{Unsigned: *unsigned || consents(cache)}
		if o.Bounds, err = bounds(); err != nil {
			return err
		}
		if limit := s.MaxSize(); limit > 0 && limit < o.Bounds.Total {
			o.Bounds.Total = limit
		}
		from, p, err := b.openBundle(args[0], "bundle add")
		if err != nil {
			return err
		}
		defer from.Close()
		o.Progress = p.members
		sum, err := bundle.Add(cache, from, o)
		p.done()
		stdout, _ := b.Streams()
		said := b.Answer(map[string]any{"added": sum.New, "bytes": sum.Bytes, "before": sum.Before, "completed": sum.In, "unsigned": sum.Unsigned}, func() {
			fmt.Fprintf(stdout, "%d added, %s; %d were there, %d records were completed, %d have no trusted signature\n",
				sum.New, store.FormatSize(sum.Bytes), sum.Before, sum.In, sum.Unsigned)
		})
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", args[0], err)
		case sum.Unsigned > 0:
			return b.No(fmt.Sprintf("%s: %v; `jitcache trust add` trusts a key, -unsigned takes entries without a trusted signature", args[0], sum.Who))
		}
		return said
	})
	cmd.Name = "add"
	cmd.LongHelp = "add verifies each entry and its signature before it stores the entry. Entries that are\nthere already stay, so an add that was interrupted goes on where it was. FILE - is\nstandard input. With -unsigned, the maker of the bundle can run code as you."
	return cmd
}

// consents reports whether a setting allows unsigned entries.
func consents(c *core.Cache) bool {
	set, _ := c.Settings().Get("unsigned")
	return set.Value == "1" || set.Value == "true"
}

func (b bundles) list() *ffcli.Command {
	flags := b.Flags("bundle list")
	bounds := b.bounds(flags)
	cmd := b.New("bundle list [-json] [-max-size N] FILE", "list the entries of a bundle", flags, 1, 1, func(args []string) error {
		_, keys := b.Trust()
		rows := []row{}
		err := b.eachMember(args[0], "bundle list", bounds, func(_ *bundle.Member, e *blob.Blob) {
			rows = append(rows, rowOf(e, core.SigningOf(e, keys)))
		})
		stdout, _ := b.Streams()
		return errors.Join(err, b.Answer(rows, func() {
			w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "KEY\tKIND\tSIZE\tSIGNED\tNAME")
			for _, r := range rows {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.Key[:12], r.Kind, store.FormatSize(r.Size), r.Signed, bundle.Printable(r.Name))
			}
			w.Flush()
		}))
	})
	cmd.Name = "list"
	return cmd
}

// row is an entry as `jitcache bundle list -json` prints it.
type row struct {
	Key    string `json:"key"`
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	Signed string `json:"signed"`
}

func rowOf(e *blob.Blob, signed core.Signing) row {
	return row{key.ID(e.ID()).String(), e.Kind(), e.Name(), int64(len(e.Data())), string(signed)}
}

// member is an entry that no trusted key has signed, as `jitcache bundle verify -json` prints it.
type member struct {
	Name  string       `json:"member"`
	State core.Signing `json:"signed"`
}

func (b bundles) verify() *ffcli.Command {
	flags := b.Flags("bundle verify")
	bounds := b.bounds(flags)
	cmd := b.New("bundle verify [-max-size N] FILE", "read a bundle, and say which entries no trusted key has signed", flags, 1, 1, func(args []string) error {
		_, keys := b.Trust()
		stdout, _ := b.Streams()
		signed, odd := 0, []member{}
		err := b.eachMember(args[0], "bundle verify", bounds, func(m *bundle.Member, e *blob.Blob) {
			if state := core.SigningOf(e, keys); state == core.SignedByTrusted {
				signed++
			} else {
				odd = append(odd, member{m.Name, state})
			}
		})
		said := b.Answer(map[string]any{"signed": signed, "not": odd}, func() {
			for _, m := range odd {
				fmt.Fprintf(stdout, "%s\t%s\n", m.Name, m.State)
			}
			fmt.Fprintf(stdout, "%s, %d signed by a key that is trusted\n", store.FormatEntries(signed+len(odd)), signed)
		})
		if err == nil && len(odd) > 0 {
			return b.No("not every entry is signed by a key that is trusted")
		}
		return errors.Join(err, said)
	})
	cmd.Name = "verify"
	return cmd
}

// eachMember calls fn for each entry of a bundle, verified.
func (b bundles) eachMember(path, what string, bounds func() (bundle.Bounds, error), fn func(m *bundle.Member, e *blob.Blob)) error {
	limits, err := bounds()
	if err != nil {
		return err
	}
	from, p, err := b.openBundle(path, what)
	if err != nil {
		return err
	}
	defer from.Close()
	defer p.done()
	if err := bundle.Each(from, limits, func(n int, m *bundle.Member, e *blob.Blob) { p.members(n); fn(m, e) }); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// passage tells how far a file has been read.
type passage struct {
	file *os.File
	size int64
	tell store.Progress
	done func()
}

// openBundle opens a bundle, - for standard input.
func (b bundles) openBundle(path, what string) (io.ReadCloser, *passage, error) {
	p := &passage{file: os.Stdin}
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, nil, err
		}
		p.file = f
	}
	info, err := p.file.Stat()
	if err != nil {
		return nil, nil, err
	}
	p.size = info.Size()
	p.tell, p.done = b.Progress(what)
	return p.file, p, nil
}

// often is after how many members progress is drawn: finding the position is a system call.
const often = 64

func (p *passage) members(n int) {
	if p.tell == nil || n%often != 0 {
		return
	}
	at, err := p.file.Seek(0, io.SeekCurrent)
	if err != nil || p.size == 0 {
		p.tell(0, n) // a pipe
		return
	}
	p.tell(float64(at)/float64(p.size), n)
}
