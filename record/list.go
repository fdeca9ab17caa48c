// List: the world that one result was made in, and the aspects of a file or folder that count.

package record

import (
	"syscall"

	"jitcache/core/key"
)

// List is the world that one result was made in, and a payload, whose meaning is up to
// the list's owner. Paths are absolute, or relative to the folder that the command runs
// in. A List is for one goroutine.
type List struct {
	Files    []File
	Folders  []Folder
	Links    []Link
	Failures []Failure
	Kinds    []Kind
	Permits  []Permit
	World    World
	Payload  []byte

	began int64 // when the names in Compiler.Startup were last compared, 0: not yet
}

// File is a regular file that was read, run or looked at. Its content and its permissions
// count.
type File struct {
	Path string
	// Mode is the type and the permissions.
	Mode  uint32
	Flags FileFlags
	Stamp Stamp
	// Digest is BLAKE3 of the content, or of what counts of it (Loader, ByMaker).
	Digest key.Digest
	// Owner is, if Owned, the user in the upper half and the group in the lower.
	Owner uint64
}

// FileFlags say what of a file counts beyond content and permissions.
type FileFlags uint8

// The flags. Loader, Startup and ByMaker weaken what counts; the others add to it.
const (
	Plain   FileFlags = 1 << iota // it is no symbolic link
	Dated                         // its modification time
	Loader                        // of its content only what it says of the libraries in the list
	Twin                          // which other files of the same content are the same file, or have its time
	Startup                       // it is compared at most once a second, see Compiler
	Owned                         // its owner
	Linked                        // its words are no names of variables: linkers have read it, and no program has loaded it
	ByMaker                       // its Digest is the key of the command that made it, see precompiled.go
)

// Folder is a folder in which names were looked for.
type Folder struct {
	Path  string
	Flags FolderFlags
	// Stamp, if it proves anything, shows that the names are unchanged.
	Stamp Stamp
	// Absent are names that were looked for and are not in it.
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
	Exists  FolderFlags = 1 << iota // it exists
	NoLink                          // it is no symbolic link
	Listed                          // the names in it
	Began                           // it is compared at most once a second, as a file with Startup
	OneWith                         // which other folders with this flag are the same folder; Stamp has its device and inode
)

// Link is a symbolic link that was read or followed, and its text.
type Link struct{ Path, Text string }

// Failure is a path that cannot be looked at or read, for a reason other than
// that it is absent.
type Failure struct {
	Path  string
	Errno syscall.Errno
}

// Kind is a path that is neither a regular file nor a folder; or a folder whose permissions
// count. The type counts, and what the flags say.
type Kind struct {
	Path   string
	Mode   uint32 // the type, and the permissions if they count
	Flags  KindFlags
	Device uint64 // if Numbered, the major number of a device in the upper half, the minor one in the lower
	Mtime  int64  // if DatedToo
	Owner  uint64 // if OwnedToo, as in File
}

// KindFlags say what counts of a Kind beside its type.
type KindFlags uint8

// The flags.
const (
	Permissions KindFlags = 1 << iota // its permissions
	Numbered                          // which device it is
	DatedToo                          // its modification time
	OwnedToo                          // its owner
)

// Permit is a question whether something may be done with a path, and the answer, as a
// program was told or has found out by doing it. A lookup asks again, for its own process.
type Permit struct {
	Path  string
	How   uint32        // the question, as in observe.Permit or below, and AtStart
	Errno syscall.Errno // the answer, 0: it may be done
}

// AtStart in How: it is asked at most once a second, as a file with Startup is compared.
const AtStart = 1 << 31

// World is what counts beside files.
type World struct {
	// Dir is the folder that the command ran in, without links; "" if it did not ask.
	Dir string
	// Variables are those of the environment that count, sorted by name. Rule says which
	// count, and Also has the names of others that do, so that new ones are noticed.
	Rule      Rule
	Also      []string
	Variables []Variable
	// CPU, Host and Limits are digests, zero if the command did not ask. Asked is the mask
	// of the limits that it asked for, by their numbers, and of the umask.
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
