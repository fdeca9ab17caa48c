//go:build !control

package storage

// Mechanisms, each with the name of the control that takes it out (package control).
const (
	boundsMemory  = true // nobomb: what is decompressed is no larger than it said
	checksPeer    = true // anypeer: only this user and root are served
	endsDenied    = true // nodenied: a helper whose credentials are not good ends
	looksAlive    = true // noheirs: the claim of a helper that is dead is taken over
	keepsMarks    = true // nooutbox: what could not be sent waits in its outbox
	beatsBefore   = true // latebeat: a claim that is being put has a pulse
	countsAsked   = true // lateread: a pulse that is read late is none that stands still
	withdrawsLost = true // orphanclaims: a claim of which the helper has not learnt is taken back
	endsLost      = true // lostclaims: a claim that the engine has lost is waited for no longer
	endsSent      = true // earlyend: a claim ends when its result is sent, and not before
	givesPlaces   = true // holdsplaces: a client that asks nothing takes no other one's place
	ownClock      = true // otherclock: how long a pulse stands still is measured here, whatever clock its helper has
	tellsHolders  = true // anyholder: who waits for one machine is told when another one has the claim
	triesAgain    = true // onetrial: an engine that has obeyed no conditions is tried again, by a trial of its own
	servesAlone   = true // manyserve: of helpers with one socket one serves
	missesBeats   = true // hastybeats: a pulse may stand still for some beats
	leavesClaims  = true // staysforclaims: a helper that cannot take a claim back ends all the same
	endsOurs      = true // keepsours: a connection of ours that asks nothing ends, whatever it has asked
	boundsBatch   = true // wholebatch: of what is asked for at once only what is small is held at once
	looksBack     = true // blindheirs: who has put a claim after a dead one's looks whether that is still there
	leavesOwn     = true // ownheirs: a claim that its helper is taking back is none of a dead one
	countsAbsence = true // oldabsence: that a helper had no pulse between two claims says nothing of the second
	sendsTheirs   = true // ownsends: what another helper is sending is sent from here, too
	triesRemoval  = true // lastingclaims: there are claims only where they can be taken away
)
