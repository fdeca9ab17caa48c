//go:build !control

package storage

// What control builds of the tests go without (package control).
const (
	boundsMemory  = true // what is decompressed is no larger than it said
	checksPeer    = true // only this user and root are served
	endsDenied    = true // a helper whose credentials are not good ends
	looksAlive    = true // the claim of a helper that is dead is taken over
	keepsMarks    = true // what could not be sent waits in its outbox
	beatsBefore   = true // a claim that is being put has a pulse
	countsAsked   = true // a pulse that is read late is none that stands still
	withdrawsLost = true // a claim of which the helper has not learnt is taken back
	endsLost      = true // a claim that the engine has lost is waited for no longer
	endsSent      = true // a claim ends when its result is sent, and not before
	givesPlaces   = true // a client that asks nothing takes no other one's place
	ownClock      = true // how long a pulse stands still is measured here, whatever clock its helper has
	tellsHolders  = true // who waits for one machine is told when another one has the claim
	triesAgain    = true // an engine that has obeyed no conditions is tried again
	servesAlone   = true // of helpers with one socket one serves
	missesBeats   = true // a pulse may stand still for some beats
	leavesClaims  = true // a helper that cannot take a claim back ends all the same
	endsOurs      = true // a connection of ours that asks nothing ends, whatever it has asked
	boundsBatch   = true // of what is asked for at once only what is small is held at once
	looksBack     = true // who has put a claim after a dead one's looks whether that is still there
	leavesOwn     = true // a claim that its helper is taking back is none of a dead one
	countsAbsence = true // that a helper had no pulse between two claims says nothing of the second
	sendsTheirs   = true // what another helper is sending is sent from here, too
	triesRemoval  = true // there are claims only where they can be taken away
)
