//go:build !control

package record

// Mechanisms, each with the name of the control that takes it out (package control).
const (
	keepsAbsent        = true // noabsent: names that were looked for in vain count
	keepsLooked        = true // nolooked: files that were looked at and not read count
	keepsChildren      = true // nochildren: what the programs did that the first one started counts
	keepsTexts         = true // nolinktexts: texts of links count
	keepsListings      = true // nolistings: names in folders count
	keepsEnvironment   = true // noenvironment: variables count
	keepsLoaded        = true // noloaded: words count of libraries that are loaded into a linker
	excusesRuns        = true // noruns: variables that name a run do not count for known programs
	keepsPreloads      = true // nopreloads: compilers under fakeroot and stdbuf are known
	keepsSearch        = true // nosearch: of PATH only counts what was found in it
	keepsNamed         = true // nonamed: variables that no manual names count where a program has the name
	keepsPlain         = true // noplain: values of variables that are no folders count where a program has the name
	keepsLibrary       = true // nolibrary: a date is told from other questions of the time by the C library
	keepsSpecs         = true // nospecs: variables count that a file of specs asks for
	keepsProcessor     = true // noprocessor: the processor counts
	keepsModes         = true // nomodes: permissions count
	keepsUmask         = true // noumask: the umask counts where it was asked for
	keepsLimits        = true // nolimits: limits count where they were asked for
	keepsDir           = true // nofolder: the folder counts where it was asked for
	keepsGiven         = true // nogiven: the permissions that folders give to outputs count
	keepsPermits       = true // nopermits: what may be done with a path counts for those who are told, or do it
	keepsDescriptors   = true // nodescriptors: what a command was given as descriptors counts for who asks
	excusesStarts      = true // noexcuse: what Python and bash ask about standard input when they start does not count
	keepsOwners        = true // noowners: owners of files count for those who may use them
	keepsSpecials      = true // nospecials: numbers of devices count, and what stat says of them, of pipes and of sockets
	keepsSubstitutes   = true // nosubstitutes: a library that LD_LIBRARY_PATH puts before a program's own is foreign
	keepsDates         = true // nodates: modification times count for those who may use them
	keepsDependency    = true // nodependency: modification times count where a source compares them
	keepsDaters        = true // nodaters: modification times count for those who write them into an output
	keepsLanguages     = true // nolanguages: files of languages count for those whose results may depend on them
	keepsAsked         = true // noasked: what libraries look at when a program starts counts for who asks for it
	keepsPrinted       = true // noprinted: the loader's cache counts whole for those who read it themselves
	keepsTwins         = true // notwins: files of equal content that are one count as one
	keepsOneFolder     = true // noonefolder: folders that are one count as one
	keepsMakefiles     = true // nomakefiles: names in a folder for temporary files count for a make that does more than to link
	keepsCompiled      = true // nocompiled: what Python has made of its sources counts for others
	keepsScratch       = true // noscratch: names of what was made and removed count as absent
	keepsAdded         = true // noadded: files to which known programs would add count as absent
	keepsHashed        = true // nohashed: what CUDA's compilers make is one of its folder
	keepsAdders        = true // noadders: what stands where ar puts a library counts
	looksFirst         = true // nolookers: what stands where nvcc puts an output counts only if nvcc or a shell looked at it
	keepsStood         = true // nostood: what was read and then written over counts by its content
	keepsPlacements    = true // noplacement: whether a command writes into what stands, or replaces it, counts
	seesCompilers      = true // nocompilers: a .pyc that is made for others counts as an output
	seesRemovals       = true // noremovals: what somebody else has removed that the command had made is missed
	keepsShared        = true // noshared: programs that share a bit have the excuses of all of them only
	notesMarkers       = true // nomarkernotes: a program's kind is found by reading its file once a stamp, not once a process
	keepsRuns          = true // norunning: a compiler that runs what it makes is not known
	keepsCrates        = true // nocrates: names count in a folder that rustc lists for crates that others name by a hash
	keepsMacros        = true // nomacros: modification times count for macros that are loaded into rustc
	keepsMakes         = true // nomakes: a make is known only if gcc's lto-wrapper runs it, and so is what that starts
	withholdsNumerical = true // nonumerical: a build is not given the variables of running numerical libraries
	withholdsSession   = true // nosession: a command is not given what only names its terminal or session
	withholdsNamed     = true // nowithheld: a command is not given what its caller withholds
	locksSets          = true // nosetlock: those who file lists at once take turns
	asksQuestions      = true // noquestions: lists of a full set move below the questions that tell them apart
	skipsUnchanged     = true // norecheck: lists are not compared again if no note has changed
	countsMakers       = true // nomakers: a precompiled header counts for gcc as the command that made it
	keepsBytes         = true // nobytes: for programs other than gcc's a precompiled header counts by its bytes
	bindsMakers        = true // nomakerstamps: who has made a precompiled header is forgotten when it changes
	seesEmbeds         = true // noembeds: for a source that may embed a precompiled header this counts by its bytes
	showsTimes         = true // nohermetic: times of files do not count for a command that was shown one time for all
	tellsPaths         = true // nobegin: the path of a place is not marked in the middle of another path
	seesRestamped      = true // norestamped: a file that is read has the stamp that the command saw
	passesStrict       = true // nostrict: a strict command is given only what compilers and build systems obey
)
