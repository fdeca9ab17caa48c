//go:build !control

package record

// Tests are shown to notice when one of these is taken out (package control):
const (
	keepsAbsent      = true // names that were looked for in vain count
	keepsLooked      = true // files that were looked at and not read count
	keepsChildren    = true // what the programs did that the first one started counts
	keepsTexts       = true // texts of links count
	keepsListings    = true // names in folders count
	keepsEnvironment = true // variables count
	keepsNamed       = true // variables that no manual names count where a program has the name
	keepsPlain       = true // values of variables that are no folders count where a program has the name
	keepsLibrary     = true // a date is told from other questions of the time by the C library
	keepsSpecs       = true // variables count that a file of specs asks for
	keepsProcessor   = true // the processor counts
	keepsModes       = true // permissions count
	keepsUmask       = true // the umask counts where it was asked for
	keepsLimits      = true // limits count where they were asked for
	keepsDir         = true // the folder counts where it was asked for
	keepsGiven       = true // the permissions that folders give to outputs count
	keepsPermits     = true // what may be done with a path counts for those who are told, or do it
	keepsOwners      = true // owners count for those who may use them
	keepsSpecials    = true // numbers of devices count, and what stat says of them, of pipes and of sockets
	keepsSubstitutes = true // a library that LD_LIBRARY_PATH puts before a program's own is foreign
	keepsDates       = true // modification times count for those who may use them
	keepsDaters      = true // they count for those who write them into an output
	keepsLanguages   = true // files of languages count for those whose results may depend on them
	keepsAsked       = true // what libraries look at when a program starts counts for who asks for it
	keepsPrinted     = true // the loader's cache counts whole for those who read it themselves
	keepsTwins       = true // files of equal content that are one count as one
	keepsCompiled    = true // what Python has made of its sources counts for others
	keepsScratch     = true // names of what was made and removed count as absent
	keepsAdded       = true // files to which known programs would add count as absent
	seesCompilers    = true // a .pyc that is made for others counts as an output
	seesRemovals     = true // what somebody else has removed that the command had made is missed
	keepsShared      = true // programs that share a bit have the excuses of all of them only
)
