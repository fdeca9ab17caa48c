package include

import "strings"

// Take reads those options of NVRTC into r that say where headers are and how
// they are read, in order, and returns the others, as they were. NVRTC takes
// blanks around an option away, a value may follow -I, -D and -U directly or
// after "=", and follow every option of these as the next one.
//
// --use-bundled-headers=PATH (NVRTC 13.3) counts as the two folders that it
// stands for; that NVRTC may first install headers there is the caller's
// business.
func (r *Request) Take(options []string) (others []string) {
	for i := 0; i < len(options); i++ {
		option := strings.Trim(options[i], " ")
		add := r.flag(option)
		if add != nil {
			if i++; i < len(options) {
				add(strings.Trim(options[i], " "))
			} else {
				add("")
			}
			continue
		}
		if !r.whole(option) {
			others = append(others, options[i])
		}
	}
	return others
}

// flag returns what to do with the value of an option that stands alone.
func (r *Request) flag(option string) func(value string) {
	switch option {
	case "-I", "--include-path":
		return func(v string) { r.Dirs = append(r.Dirs, v) }
	case "-include", "--pre-include":
		return func(v string) { r.PreIncludes = append(r.PreIncludes, v) }
	case "-D", "--define-macro":
		return func(v string) { r.Macros = append(r.Macros, v) }
	case "-U", "--undefine-macro":
		return func(string) {}
	}
	return nil
}

// whole takes an option that has its value in it.
func (r *Request) whole(option string) bool {
	for _, name := range []string{"--include-path", "--pre-include", "--define-macro", "--undefine-macro", "-include"} {
		if value, ok := strings.CutPrefix(option, name+"="); ok {
			r.flag(name)(value)
			return true
		}
	}
	for _, name := range []string{"-I", "-D", "-U"} {
		if value, ok := strings.CutPrefix(option, name); ok {
			if rest, ok := strings.CutPrefix(value, "="); ok {
				value = rest
			} else {
				value = strings.TrimLeft(value, " ")
			}
			r.flag(name)(value)
			return true
		}
	}
	if path, ok := strings.CutPrefix(option, "--use-bundled-headers="); ok {
		r.Dirs = append(r.Dirs, path, join(path, "cccl"))
		return true
	}
	for _, name := range []string{"-std=", "--std="} {
		if value, ok := strings.CutPrefix(option, name); ok {
			r.Standard = value
			return true
		}
	}
	if option == "--no-source-include" || option == "-no-source-include" {
		r.NoSourceInclude = true
		return true
	}
	return false
}
