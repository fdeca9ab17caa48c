// Package manifest remembers which files a result was made from, so that a
// later run can tell with one stat per file whether they are unchanged.
//
// A [List] holds files by what stat said of them and by their content, names
// that were looked for and did not exist, and folders whose names matter:
//
//	text, file, err := manifest.Read("inc/a.h")
//	l := &manifest.List{Files: []manifest.File{file}, Absent: []string{"a.h"}}
//	state, why := l.Check()
//
// A [Set] holds the last few lists of one source: the branches that somebody
// switches between, and the edits of the last hour.
//
// The rules. Content decides; stamps only save the reading. A file whose
// stamps prove nothing, because it had changed a moment before it was read, is
// read again. A name that was absent must still be absent: a header that
// appears earlier on the search path changes the result and none of the files.
// Names that lead to one file must still do so, and no others, because #pragma
// once goes by that.
//
// What is not in the package: who found the files, and whether these are all.
// Nothing in it is a key; paths are as they were looked up, and a relative one
// starts at the working directory of whoever checks.
package manifest
