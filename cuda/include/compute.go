package include

import (
	"bytes"
	"slices"
	"strings"
)

// computed is a directive whose name is an expression of macros.
type computed struct {
	from *text
	line *directive
	text []byte
	link int             // of from
	done map[string]bool // the expansions that were followed
	all  bool            // it leads to everything
}

// later remembers a name that has to be expanded once all definitions are known.
func (w *walk) later(t *text, d *directive, k kind, operand []byte) {
	t.links = append(t.links, link{kind: k})
	w.open = append(w.open, computed{t, d, operand, len(t.links) - 1, map[string]bool{}, false})
}

// compute expands the names that are expressions, with the definitions of all
// texts so far. It reports whether that led to new texts.
func (w *walk) compute() (again bool, err error) {
	w.asked()
	if len(w.open) == 0 {
		return false, nil
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
	return len(w.queue) > 0, nil
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
		return &Refused{c.from.place(c.line), "#include " + expression + " cannot be resolved: " + why}
	}
	all, err := w.everything(c.from)
	if err != nil {
		return &Refused{c.from.place(c.line), "#include " + expression + " cannot be resolved: " + why + ", and not every file can be taken: " + err.Error()}
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

// condition follows the names that a line of #if asks for: __has_include(<x>),
// and whatever else has a name in parentheses, since a macro may ask for it.
func (w *walk) condition(t *text, d *directive) error {
	w.conditions = append(w.conditions, condition{t, d})
	return w.asks(t, d, d.text, nil)
}

type condition struct {
	from *text
	line *directive
}

// definition follows the names that the body of a macro asks for. A macro that
// asks for its parameter is remembered: its calls are looked at later.
func (w *walk) definition(t *text, d *directive) error {
	if !bytes.Contains(d.text, []byte("__has_")) {
		return nil
	}
	m := macros{}
	m.define(d.text)
	for name, ds := range m {
		for _, d := range ds {
			if d.function && bytes.Contains(d.raw, []byte("__has_include")) || bytes.Contains(d.raw, []byte("__has_embed")) {
				w.askers[name] = true
			}
		}
		return w.asks(t, d, d.text, ds[0].params)
	}
	return nil
}

// asks follows the names in parentheses in a line. Those that are an expression
// are for later if __has_include or its like stands before the parenthesis,
// unless it is a parameter.
func (w *walk) asks(t *text, d *directive, line []byte, params []string) error {
	for i, c := range line {
		if c != '(' {
			continue
		}
		before := trailingWord(line[:i])
		operand := bytes.TrimLeft(line[i+1:], " \t")
		k, asks := asking(before)
		n, literal := literalName(operand)
		switch {
		case literal && (asks || d.kind == kindCondition):
			t.links = append(t.links, link{kind: k})
			if err := w.link(&t.links[len(t.links)-1], n, t); err != nil {
				return err
			}
		case asks && !literal:
			operand = parenthesised(line[i:])
			if word, rest := leadingWord(bytes.TrimSpace(operand)); len(rest) > 0 || !slices.Contains(params, string(word)) {
				w.later(t, d, k, operand)
			}
		}
	}
	return nil
}

func asking(word string) (kind, bool) {
	switch word {
	case "__has_include", "__has_embed":
		return kindHas, true
	case "__has_include_next":
		return kindHasNext, true
	}
	return kindHas, false
}

// asked looks for calls of macros that ask __has_include, in lines of #if that
// have not been looked at for them.
func (w *walk) asked() {
	for _, t := range w.texts[w.wrapped:] {
		w.wrap(t)
	}
	w.wrapped = len(w.texts)
	for name := range w.askers {
		from := w.looked[name]
		w.looked[name] = len(w.conditions)
		for _, c := range w.conditions[from:] {
			w.calls(c, name)
		}
	}
}

// wrap adds the macros of a text that call an asker to the askers.
func (w *walk) wrap(t *text) {
	for i := range t.directives {
		d := &t.directives[i]
		if d.kind != kindDefine {
			continue
		}
		for name := range w.askers {
			if at := bytes.Index(d.text, []byte(name)); at > 0 {
				if word, rest := leadingWord(bytes.TrimLeft(d.text, " \t")); len(rest) > 0 && rest[0] == '(' && string(word) != name {
					w.askers[string(word)] = true
				}
			}
		}
	}
}

func (w *walk) calls(c condition, name string) {
	line := c.line.text
	for at := 0; ; {
		n := bytes.Index(line[at:], []byte(name))
		if n < 0 {
			return
		}
		at += n + len(name)
		rest := bytes.TrimLeft(line[at:], " \t")
		if len(rest) == 0 || rest[0] != '(' {
			continue
		}
		operand := parenthesised(rest)
		if _, literal := literalName(bytes.TrimSpace(operand)); !literal {
			w.later(c.from, c.line, kindHas, operand)
		}
	}
}

// parenthesised returns what is between the parenthesis at the start and the one
// that closes it.
func parenthesised(line []byte) []byte {
	depth := 0
	for i, c := range line {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return line[1:i]
			}
		}
	}
	return line[1:]
}

func trailingWord(line []byte) string {
	line = bytes.TrimRight(line, " \t")
	n := len(line)
	for n > 0 && isWord(line[n-1]) {
		n--
	}
	return string(line[n:])
}
