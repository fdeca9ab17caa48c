//go:build !control

package launch

// Mechanisms, each with the name of the control that takes it out (package control).
const (
	admits         = true // anyplace: what was made elsewhere is put only where the command's words point
	looks          = true // nolooks: a replay looks at what it would overwrite
	marks          = true // nomarks: in texts, names of places are those of the run that reads them
	seesTimes      = true // anytimes: a time that the command has given a file is missed in a replay
	seesGiven      = true // anygiven: a group or an access list that the command has given a file is missed in a replay
	tells          = true // notells: a command that prints to a terminal is told so
	remembers      = true // noremembered: a command that cannot be kept is not observed again at once
	forgets        = true // noforgotten: a command that could not be kept is observed again if it would run other programs
	exchanges      = true // noexchange: an output takes the place of the older one at once
	waits          = true // nowaiting: a slow reader of a pipe that does not block is waited for
	looksForCures  = true // nocures: a command is observed again when what kept it from being kept may be gone
	spares         = true // nospares: where the address space is small there is only the command
	inPieces       = true // nopieces: large outputs are stored and replayed in pieces
	seesSizes      = true // nosizes: what is larger than the cache may be is not read
	seesJobServers = true // nojobserver: whether there is the job server that MAKEFLAGS names counts
	leavesHeaders  = true // nolargeheaders: a large precompiled header is not stored
	namesPrograms  = true // allprograms: only results of the programs that a project names are kept
	countsSecond   = true // nosecond: which second a hermetic command is shown is a part of its request
	compilesAnew   = true // compiled: Python in a hermetic command uses no compiled files
	seesDeciders   = true // nodeciders: a hermetic command that decides by times is run without the observer
	saysUnknown    = true // nounknown: a miss of a request that is not known says what differs from the last of its name
	findsMore      = true // nomore: invented names are found in variables, and where they are relative
	seesDerived    = true // noderived: an output that is named after an invented file, and not by it, is not kept
	ends           = true // noending: a replay that has begun to print is not run again
)
