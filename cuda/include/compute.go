package include

import (
	"slices"
	"strings"

	"jitcache/core/request"
)

// computed is a directive whose name is an expression of macros.
type computed struct {
	from *text
	line *directive
	text []byte
	link int             // of from
	done map[string]bool // the expansions that were followed
	all  bool            // it leads to everything
	// roams: the line is the body of a macro, and a quoted name in it starts in
	// the folder of whoever uses that.
	roams bool
}

// later remembers a name that has to be expanded once all definitions are known.
func (w *walk) later(t *text, d *directive, k kind, operand []byte) {
	t.links = append(t.links, link{kind: k})
	w.open = append(w.open, computed{
		from: t, line: d, text: operand, link: len(t.links) - 1, done: map[string]bool{}, roams: d.kind == kindDefine,
	})
}

// compute expands the names that are expressions, with the definitions of all
// texts so far. It reports whether that led to new texts.
func (w *walk) compute() (again bool, err error) {
	if err := w.asked(); err != nil {
		return false, err
	}
	if len(w.open) == 0 {
		return len(w.queue) > 0, nil
	}
	for ; w.collected < len(w.texts); w.collected++ {
		for i := range w.texts[w.collected].directives {
			if d := &w.texts[w.collected].directives[i]; d.kind == kindDefine {
				w.defined.define(d.text)
			}
		}
	}
	for i := range w.open {
		if err := w.expand(&w.open[i]); err != nil {
			return false, err
		}
	}
	return len(w.queue) > 0, w.wander()
}

func (w *walk) expand(c *computed) error {
	lines, unknown := w.defined.expand(c.text)
	if unknown != "" && !c.all {
		if err := w.unresolved(c, lines, unknown); err != nil {
			return err
		}
	}
	for _, line := range lines {
		if c.done[line] || c.all {
			continue
		}
		c.done[line] = true
		for _, n := range namesIn(line) {
			if c.roams && n.quoted {
				w.roam(n, c.from.links[c.link].kind)
			}
			if err := w.link(&c.from.links[c.link], n, c.from); err != nil {
				return err
			}
		}
	}
	return nil
}

// unresolved lets a name that is not wholly known lead to everything that it can.
func (w *walk) unresolved(c *computed, lines []string, why string) error {
	expression := strings.TrimSpace(string(c.text))
	if why == tooMany || leavesPath(lines) {
		return request.Refuse(c.from.place(c.line), "#include "+expression+" cannot be resolved: "+why)
	}
	all, err := w.everything(c.from)
	if err != nil {
		return request.Refuse(c.from.place(c.line), "#include "+expression+" cannot be resolved: "+why+", and not every file can be taken: "+err.Error())
	}
	c.all = true
	l := &c.from.links[c.link]
	l.targets, l.names = append(l.targets, all.targets...), append(make([]string, len(l.targets)), all.names...)
	return nil
}

// namesIn returns the names that an expanded line may mean. NVRTC keeps the
// white space between the tokens of <name>; how much an expansion leaves is not
// certain, so the name without any counts too.
func namesIn(line string) []name {
	n, ok := literalName([]byte(strings.TrimLeft(line, " ")))
	if !ok {
		return nil
	}
	names := []name{n}
	if n.quoted {
		return names
	}
	for _, other := range []string{strings.TrimRight(n.text, " "), strings.TrimSpace(n.text), strings.ReplaceAll(n.text, " ", "")} {
		if !slices.Contains(names, name{other, false}) {
			names = append(names, name{other, false})
		}
	}
	return names
}
