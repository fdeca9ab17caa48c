//go:build control

package storage

import "jitcache/core/control"

var (
	boundsMemory  = !control.Is("nobomb")
	checksPeer    = !control.Is("anypeer")
	endsDenied    = !control.Is("nodenied")
	looksAlive    = !control.Is("noheirs")
	keepsMarks    = !control.Is("nooutbox")
	beatsBefore   = !control.Is("latebeat")
	countsAsked   = !control.Is("lateread")
	withdrawsLost = !control.Is("orphanclaims")
	endsLost      = !control.Is("lostclaims")
	endsSent      = !control.Is("earlyend")
	givesPlaces   = !control.Is("holdsplaces")
	ownClock      = !control.Is("otherclock")
	tellsHolders  = !control.Is("anyholder")
	triesAgain    = !control.Is("onetrial")
	servesAlone   = !control.Is("manyserve")
	missesBeats   = !control.Is("hastybeats")
	leavesClaims  = !control.Is("staysforclaims")
	endsOurs      = !control.Is("keepsours")
	boundsBatch   = !control.Is("wholebatch")
	looksBack     = !control.Is("blindheirs")
	leavesOwn     = !control.Is("ownheirs")
	countsAbsence = !control.Is("oldabsence")
	sendsTheirs   = !control.Is("ownsends")
	triesRemoval  = !control.Is("lastingclaims")
)
