package include

import (
	"slices"
	"strings"
)

// Bounds of one expansion. The directives of Thrust take 60 steps and give 4
// results.
const (
	maxSteps   = 20_000
	maxResults = 1_000
)

const tooMany = "too many ways to expand it"

// expansion expands a line in every way that the definitions permit.
type expansion struct {
	macros  macros
	steps   int
	unknown string // why not all ways are known
}

// expand returns what a line may become, each once.
func (m macros) expand(text []byte) (lines []string, unknown string) {
	e := &expansion{macros: m}
	seen := map[string]bool{}
	for _, tokens := range e.all(split(text)) {
		var line strings.Builder
		for _, t := range tokens {
			if t.word && predefined(t.text) {
				e.unknown = t.text + " is NVRTC's own"
			}
			if t.space && line.Len() > 0 {
				line.WriteByte(' ')
			}
			line.WriteString(t.text)
		}
		if !seen[line.String()] {
			seen[line.String()] = true
			lines = append(lines, line.String())
		}
	}
	return lines, e.unknown
}

// all returns every full expansion of the tokens.
func (e *expansion) all(tokens []token) [][]token {
	var results [][]token
	e.from(nil, tokens, &results)
	return results
}

// from expands rest behind done, which needs no more of it. A name that has a
// definition may also stay as it is: the definition may come later, or be gone.
func (e *expansion) from(done, rest []token, results *[][]token) {
	for len(rest) > 0 {
		if e.steps++; e.steps > maxSteps || len(*results) > maxResults {
			e.unknown = tooMany
			return
		}
		t := rest[0]
		rest = rest[1:]
		if t.word && !t.hide.has(t.text) {
			for _, d := range e.macros[t.text] {
				for _, next := range e.replace(d, t, rest) {
					e.from(slices.Clone(done), next, results)
				}
			}
		}
		done = append(done, t)
	}
	*results = append(*results, done)
}

// replace returns rest with the name t before it replaced, in every way.
func (e *expansion) replace(d *macro, t token, rest []token) [][]token {
	var args [][]token
	if d.function {
		var ok bool
		if args, rest, ok = d.arguments(rest); !ok {
			return nil
		}
	}
	bodies := e.substitute(d, args)
	for i, body := range bodies {
		whole := make([]token, 0, len(body)+len(rest))
		for j, b := range body {
			b.hide = &hide{t.text, join2(b.hide, t.hide)}
			if j == 0 {
				b.space = t.space
			}
			whole = append(whole, b)
		}
		bodies[i] = append(whole, rest...)
	}
	return bodies
}

// join2 returns the names of both.
func join2(a, b *hide) *hide {
	if a == nil {
		return b
	}
	return &hide{a.name, join2(a.next, b)}
}

// arguments reads the arguments of a call from the tokens that follow its name.
func (d *macro) arguments(rest []token) (args [][]token, after []token, ok bool) {
	if len(rest) == 0 || rest[0].text != "(" {
		return nil, nil, false
	}
	depth, arg := 0, []token{}
	for i, t := range rest {
		switch {
		case t.text == "(":
			depth++
			if depth == 1 {
				continue
			}
		case t.text == ")":
			if depth--; depth == 0 {
				args = append(args, arg)
				for len(args) < len(d.params) {
					args = append(args, nil)
				}
				return args, rest[i+1:], true
			}
		case t.text == "," && depth == 1 && (!d.variadic || len(args) < len(d.params)-1):
			args = append(args, arg)
			arg = []token{}
			continue
		}
		arg = append(arg, t)
	}
	return nil, nil, false
}

// substitute returns the body with the arguments in place of the parameters, in
// every way that the arguments expand.
func (e *expansion) substitute(d *macro, args [][]token) [][]token {
	body := d.tokens()
	outs := [][]token{nil}
	for i := 0; i < len(body); i++ {
		t := body[i]
		if t.text == "__VA_OPT__" {
			e.unknown = tooMany // it is not understood
		}
		var ways [][]token
		p := d.param(t)
		switch {
		case d.function && t.text == "#" && i+1 < len(body) && d.param(body[i+1]) >= 0:
			i++
			ways = [][]token{{stringify(args[d.param(body[i])], t.space)}}
		case p < 0 || p >= len(args):
			ways = [][]token{{t}}
		case i > 0 && body[i-1].text == "##" || i+1 < len(body) && body[i+1].text == "##":
			ways = [][]token{spaced(args[p], t.space)}
		default:
			for _, way := range e.all(args[p]) {
				ways = append(ways, spaced(way, t.space))
			}
		}
		var longer [][]token
		for _, out := range outs {
			for _, way := range ways {
				longer = append(longer, append(slices.Clone(out), way...))
			}
		}
		if outs = longer; len(outs) > maxResults {
			e.unknown = tooMany
			return nil
		}
	}
	for i := range outs {
		outs[i] = paste(outs[i])
	}
	return outs
}

// spaced returns the tokens with the white space that stood before the
// parameter.
func spaced(tokens []token, space bool) []token {
	tokens = slices.Clone(tokens)
	if len(tokens) > 0 {
		tokens[0].space = space
	}
	return tokens
}

func stringify(arg []token, space bool) token {
	var s strings.Builder
	s.WriteByte('"')
	for i, t := range arg {
		if t.space && i > 0 {
			s.WriteByte(' ')
		}
		s.WriteString(t.text)
	}
	s.WriteByte('"')
	return token{text: s.String(), space: space}
}

// paste joins the tokens on both sides of a ##.
func paste(tokens []token) []token {
	var out []token
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		if t.text != "##" || len(out) == 0 {
			out = append(out, t)
			continue
		}
		if i+1 == len(tokens) {
			break
		}
		i++
		last := &out[len(out)-1]
		last.text += tokens[i].text
		last.word = isWord(last.text[0]) && (last.text[0] < '0' || last.text[0] > '9')
	}
	return out
}
