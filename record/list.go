package record

import (
	"syscall"

	"jitcache/core/key"
)

// List is the world that one result was made in, and a payload, which is what its
// owner makes of it. Paths are absolute, or relative to the folder that the
// command runs in. A List is for one goroutine.
type List struct {
	Files    []File
	Folders  []Folder
	Links    []Link
	Failures []Failure
	Kinds    []Kind
	Permits  []Permit
	World    World
	Payload  []byte

	began int64 // when what a compiler began with was compared, 0: not yet
}

// File is a regular file that was read, run or looked at: its content counts, and
// its permissions.
type File struct {
	Path string
	// Mode is the type and the permissions.
	Mode  uint32
	Flags FileFlags
	Stamp Stamp
	// Digest is BLAKE3 of the content, or of what counts of it (Loader).
	Digest key.Digest
	// Owner is, if Owned, the user, and in the lower half the group.
	Owner uint64
}

// FileFlags are what else counts of a file, or what less.
type FileFlags uint8

// The flags.
const (
	Plain   FileFlags = 1 << iota // that it is no link
	Dated                         // its modification time
	Loader                        // less: only what the loader's cache says of the libraries in the list
	Twin                          // which of the others of the same content are the same file, or as old
	Startup                       // that it is compared once a second, see Compiler
	Owned                         // whose it is
)

// Folder is a folder that something was looked for in.
type Folder struct {
	Path  string
	Flags FolderFlags
	// Stamp vouches for the names, if it proves anything.
	Stamp Stamp
	// Absent are names that are not in it.
	Absent []string
	// Names is, if Listed, the digest of all names in it but those in Except, which
	// the command makes itself.
	Names  key.Digest
	Except []string
}

// FolderFlags say what counts of a folder.
type FolderFlags uint8

// The flags.
const (
	Exists FolderFlags = 1 << iota // that it is there
	NoLink                         // and is no link
	Listed                         // the names in it
	Began                          // that it is compared once a second, as a file with Startup
)

// Link is a symbolic link of which the text was read.
type Link struct{ Path, Text string }

// Failure is a path that cannot be looked at or read, for a reason other than
// that it is absent.
type Failure struct {
	Path  string
	Errno syscall.Errno
}

// Kind is something that counts as what it is, and no more: neither file nor folder; or a
// folder, of which the permissions count.
type Kind struct {
	Path string
	Mode uint32 // its type, and its permissions if they count
}

// Permit is whether something may be done with a path, as a program was told or has found
// by doing it. Whoever replays a result asks for himself.
type Permit struct {
	Path  string
	How   uint32        // as of observe.Permit
	Errno syscall.Errno // why not, 0: it may
}

// World is what counts beside files.
type World struct {
	// Dir is the folder that the command ran in, without links; "" if it did not ask.
	Dir string
	// Variables are those of the environment that count, sorted by name. Rule and
	// Also, names that count beside, say which those are, so that new ones are noticed.
	Rule      Rule
	Also      []string
	Variables []Variable
	// CPU, Host and Limits are digests, zero for those that were not asked for. Asked is a
	// mask of the limits that were, by their numbers, and of the umask.
	CPU, Host, Limits key.Digest
	Asked             uint64
}

// Rule says which variables count.
type Rule uint8

// The rules.
const (
	NoVariables      Rule = iota // nothing was run
	KnownVariables               // those that the programs document
	AllVariables                 // all but those that name a session, a job or a rank (Withhold)
	NamedVariables               // those in Also
	SessionVariables             // all but those that only name a session (WithholdSession)
	EveryVariable                // all, but jitcache's own
)

// Variable is a variable that counts: its name, and a short digest of its value.
type Variable struct {
	Name  string
	Value [16]byte
}
