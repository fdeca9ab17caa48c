package native

// rules reads dependency rules as make reads them and compilers write them: a
// target, a colon, and files, over lines that end in a backslash. It returns the
// files of each rule in order.
//
// Compilers write a space in a name as "\ ", "#" as "\#" and "$" as "$$"; a
// backslash before anything else stands for itself.
func rules(text []byte) [][]string {
	var all [][]string
	var files []string
	var word []byte
	target := true
	end := func() {
		if len(word) > 0 && !target {
			files = append(files, string(word))
		}
		word = word[:0]
	}
	for i := 0; i < len(text); i++ {
		next := byte('\n')
		if i+1 < len(text) {
			next = text[i+1]
		}
		switch c := text[i]; {
		case c == '\\' && next == '\n', c == '\\' && next == '\r':
			end()
			i++
			if next == '\r' && i+1 < len(text) && text[i+1] == '\n' {
				i++
			}
		case c == '\\' && (next == ' ' || next == '#' || next == '\t'), c == '$' && next == '$':
			word = append(word, next)
			i++
		case c == ':' && target && (next == ' ' || next == '\n' || next == '\\' || next == '\t'):
			target, word = false, word[:0]
		case c == '\n':
			end()
			if !target {
				all = append(all, files)
			}
			files, target = nil, true
		case c == ' ' || c == '\t' || c == '\r':
			end()
		default:
			word = append(word, c)
		}
	}
	end()
	if !target {
		all = append(all, files)
	}
	return all
}
