package nvrtc

import (
	"slices"
	"strings"

	"jitcache/core/request"
)

// Options are the options of one compilation, sorted by what they do.
type Options struct {
	// Raw are the options as they were given, for NVRTC.
	Raw []string
	// Keyed are those that change the result, in a form that is the same for
	// all spellings of one option. The order is that of Raw where it matters.
	// Include paths and pre-includes are not among them, because what they find
	// is keyed and not where; nor are Arch and Link, which may come from elsewhere.
	Keyed []string
	// Dirs are the folders of -I, in order.
	Dirs []string
	// PreIncludes are the headers of --pre-include, in order.
	PreIncludes []string
	// Macros are the values of -D, in order: "NAME=VALUE". Those of -U are in Keyed
	// only.
	Macros []string
	// Standard is the value of --std ("c++17"), "" if there is none.
	Standard string
	// Files are other files that NVRTC reads: precompiled headers.
	Files []string
	// Arch is the value of --gpu-architecture ("sm_90"), "" if there is none.
	Arch string
	// Link is whether the result is LTO-IR for the linker, --dlink-time-opt.
	Link bool
	// NoSourceInclude is whether the folder of the source is not searched.
	NoSourceInclude bool
	// ShowsPaths is whether the result has paths of source files in it: with
	// --device-debug and --generate-line-info.
	ShowsPaths bool
}

// effect is what an option does.
type effect int

const (
	keyed    effect = iota // changes the result, or the log that is stored with it
	shows                  // keyed, and the result shows paths
	ordered                // keyed; all of these together keep their order
	ignored                // changes nothing that is stored
	arch                   // --gpu-architecture
	link                   // --dlink-time-opt
	noSource               // --no-source-include
	macro                  // -D, -U
	std                    // --std
	dir                    // -I
	preInc                 // --pre-include
	reads                  // reads a file
	assemble               // --ptxas-options
	refused
)

// form is how an option takes its value.
type form int

const (
	flag   form = iota // none: --use_fast_math
	value              // --ftz=true, --ftz true
	equals             // --std=c++17 only
	joined             // value, and -DNAME, -D NAME in one string
)

// option is one that NVRTC knows, under one long and at most one short name. It
// takes neither with another number of dashes, nor abbreviated.
type option struct {
	long, short string
	form        form
	effect      effect
	why         string // refused: because
}

const (
	writes     = "writes a file, which a hit would not"
	writesPCH  = "writes a precompiled header, which a hit would not"
	readsNamed = "reads a file that only the assembler knows"
)

// options are those of NVRTC 12.9 and 13.5, from its manual and from trying each
// spelling. What is not here is keyed as it was given, in its place.
var options = []option{
	{"--gpu-architecture", "-arch", value, arch, ""},
	{"--device-c", "-dc", flag, keyed, ""},
	{"--device-w", "-dw", flag, keyed, ""},
	{"--relocatable-device-code", "-rdc", value, keyed, ""},
	{"--extensible-whole-program", "-ewp", flag, keyed, ""},
	{"--device-debug", "-G", flag, shows, ""},
	{"--generate-line-info", "-lineinfo", flag, shows, ""},
	{"--dopt", "-dopt", value, keyed, ""},
	{"--Ofast-compile", "-Ofc", value, keyed, ""},
	{"--ptxas-options", "-Xptxas", value, assemble, ""},
	{"--maxrregcount", "-maxrregcount", value, keyed, ""},
	{"--ftz", "-ftz", value, keyed, ""},
	{"--prec-sqrt", "-prec-sqrt", value, keyed, ""},
	{"--prec-div", "-prec-div", value, keyed, ""},
	{"--fmad", "-fmad", value, keyed, ""},
	{"--use_fast_math", "-use_fast_math", flag, keyed, ""},
	{"--extra-device-vectorization", "-extra-device-vectorization", flag, keyed, ""},
	{"--modify-stack-limit", "-modify-stack-limit", value, keyed, ""},
	{"--dlink-time-opt", "-dlto", flag, link, ""},
	{"--gen-opt-lto", "-gen-opt-lto", flag, keyed, ""},
	{"--optix-ir", "-optix-ir", flag, keyed, ""},
	{"--jump-table-density", "-jtd", value, keyed, ""},
	{"--device-stack-protector", "-device-stack-protector", value, keyed, ""},
	{"--split-compile", "-split-compile", value, keyed, ""},
	{"--fdevice-syntax-only", "-fdevice-syntax-only", flag, keyed, ""},
	{"--minimal", "-minimal", flag, keyed, ""},
	{"--no-cache", "-no-cache", flag, ignored, ""},
	{"--frandom-seed", "-frandom-seed", equals, keyed, ""},
	{"--define-macro", "-D", joined, macro, ""},
	{"--undefine-macro", "-U", joined, macro, ""},
	{"--include-path", "-I", joined, dir, ""},
	{"--pre-include", "-include", value, preInc, ""},
	{"--no-source-include", "-no-source-include", flag, noSource, ""},
	{"--use-bundled-headers", "-use-bundled-headers", equals, refused, "writes its headers to a folder; install them once, and name the folder with -I"},
	{"--std", "-std", equals, std, ""},
	{"--builtin-move-forward", "-builtin-move-forward", value, keyed, ""},
	{"--builtin-initializer-list", "-builtin-initializer-list", value, keyed, ""},
	{"--pch", "-pch", flag, refused, writesPCH},
	{"--create-pch", "-create-pch", equals, refused, writesPCH},
	{"--use-pch", "-use-pch", equals, reads, ""},
	{"--pch-dir", "-pch-dir", equals, refused, "moves precompiled headers; name them whole with --use-pch"},
	{"--pch-verbose", "-pch-verbose", value, keyed, ""},
	{"--pch-messages", "-pch-messages", value, keyed, ""},
	{"--instantiate-templates-in-pch", "-instantiate-templates-in-pch", value, keyed, ""},
	{"--disable-warnings", "-w", flag, keyed, ""},
	{"--Wreorder", "-Wreorder", flag, keyed, ""},
	{"--warning-as-error", "-Werror", value, keyed, ""},
	{"--restrict", "-restrict", flag, keyed, ""},
	{"--device-as-default-execution-space", "-default-device", flag, keyed, ""},
	{"--device-int128", "-device-int128", flag, keyed, ""},
	{"--device-float128", "-device-float128", flag, keyed, ""},
	{"--optimization-info", "-opt-info", value, keyed, ""},
	{"--display-error-number", "-err-no", flag, keyed, ""},
	{"--no-display-error-number", "-no-err-no", flag, keyed, ""},
	{"--diag-error", "-diag-error", value, ordered, ""},
	{"--diag-suppress", "-diag-suppress", value, ordered, ""},
	{"--diag-warn", "-diag-warn", value, ordered, ""},
	{"--brief-diagnostics", "-brief-diag", value, keyed, ""},
	{"--time", "-time", equals, refused, writes},
	{"--fdevice-time-trace", "-fdevice-time-trace", equals, refused, writes},
}

// byName finds an option by either name.
var byName = func() map[string]*option {
	m := make(map[string]*option, 2*len(options))
	for i := range options {
		m[options[i].long], m[options[i].short] = &options[i], &options[i]
	}
	return m
}()

// Parse sorts options. The error is a [request.Refused], of the first that is;
// the rest of the Options are whole even then.
func Parse(raw []string) (*Options, error) {
	p := parser{out: &Options{Raw: raw}}
	var first error
	for rest := raw; len(rest) > 0; {
		n, err := p.next(rest)
		if first == nil {
			first = err
		}
		rest = rest[n:]
	}
	p.finish()
	return p.out, first
}

type parser struct {
	out     *Options
	items   []item
	unknown bool
}

// item is a keyed option; items of one group keep their order.
type item struct{ group, text string }

// next takes the first of the options, and its value if that is the second, and
// returns how many it took.
func (p *parser) next(raw []string) (int, error) {
	o, val, n := split(raw)
	if o == nil {
		p.unknown = true
		return 1, unknown(raw[0])
	}
	return n, p.take(o, val, raw[0])
}

// split finds which option the first of raw is, its value, and how many of raw
// the two are. The option is nil if NVRTC does not know it, or would miss the
// value.
func split(raw []string) (o *option, val string, n int) {
	// NVRTC takes blanks around an argument away.
	first := strings.Trim(raw[0], " ")
	name, val, assigned := strings.Cut(first, "=")
	o = byName[name]
	switch {
	case o == nil:
		return joinedOption(first)
	case o.form == flag && !assigned, o.form != flag && assigned:
		return o, val, 1
	case o.form == joined && len(raw) == 1: // an empty value: -I means the working directory
		return o, "", 1
	case o.form == flag || o.form == equals || len(raw) == 1:
		return nil, "", 1
	}
	return o, strings.Trim(raw[1], " "), 2
}

// joinedOption splits -DNAME=1, -D NAME and -I/path.
func joinedOption(text string) (*option, string, int) {
	if len(text) <= 2 {
		return nil, "", 1
	}
	if o := byName[text[:2]]; o != nil && o.form == joined {
		return o, strings.TrimLeft(text[2:], " "), 1
	}
	return nil, "", 1
}

// unknown refuses what may well be a newer way to name files. Anything else that
// the table does not have is keyed as it stands.
func unknown(text string) error {
	for _, word := range []string{"include", "pch", "header"} {
		if strings.HasPrefix(strings.TrimLeft(text, " "), "-") && strings.Contains(strings.ToLower(text), word) {
			return request.Refuse("option "+text, "not known here, and it may read files")
		}
	}
	return nil
}

func (p *parser) take(o *option, val, given string) error {
	group := o.long
	switch o.effect {
	case refused:
		return request.Refuse("option "+given, o.why)
	case ignored:
		return nil
	case dir:
		p.out.Dirs = append(p.out.Dirs, val)
		return nil
	case preInc:
		p.out.PreIncludes = append(p.out.PreIncludes, val)
		return nil
	case reads:
		p.out.Files = append(p.out.Files, val)
		return nil
	case macro:
		if o.short == "-D" {
			p.out.Macros = append(p.out.Macros, val)
		}
		group = "macros"
	case std:
		p.out.Standard = val
	case ordered:
		group = "diagnostics"
	case shows:
		p.out.ShowsPaths = true
	case arch:
		p.out.Arch = val
		return nil
	case link:
		p.out.Link = true
		return nil
	case noSource:
		p.out.NoSourceInclude = true
	case assemble:
		if err := assembler(given, val); err != nil {
			return err
		}
	}
	text := o.long
	if o.form != flag {
		text += "=" + val
	}
	p.items = append(p.items, item{group, text})
	return nil
}

// assembler refuses what makes ptxas read or write files.
func assembler(given, val string) error {
	for _, word := range strings.FieldsFunc(val, func(r rune) bool { return r == ' ' || r == ',' || r == '=' }) {
		switch word {
		case "-o", "--output-file", "-output-file":
			return request.Refuse("option "+given, writes)
		case "-optf", "--options-file", "-options-file":
			return request.Refuse("option "+given, readsNamed)
		}
	}
	return nil
}

// finish writes Keyed. Options of different names commute, and of one name the
// last counts, so sorting by name makes one key of all orders. Where an option
// is unknown, so is what it does to its neighbours: then all keep their places.
func (p *parser) finish() {
	if p.unknown {
		p.out.Keyed = append([]string{"as given"}, p.out.Raw...)
		return
	}
	slices.SortStableFunc(p.items, func(a, b item) int { return strings.Compare(a.group, b.group) })
	for _, i := range p.items {
		p.out.Keyed = append(p.out.Keyed, i.text)
	}
}
