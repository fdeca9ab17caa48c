//go:build control

package record

import "jitcache/core/control"

var (
	keepsAbsent      = !control.Is("noabsent")
	keepsLooked      = !control.Is("nolooked")
	keepsChildren    = !control.Is("nochildren")
	keepsTexts       = !control.Is("nolinktexts")
	keepsListings    = !control.Is("nolistings")
	keepsEnvironment = !control.Is("noenvironment")
	keepsNamed       = !control.Is("nonamed")
	keepsPlain       = !control.Is("noplain")
	keepsLibrary     = !control.Is("nolibrary")
	keepsSpecs       = !control.Is("nospecs")
	keepsProcessor   = !control.Is("noprocessor")
	keepsModes       = !control.Is("nomodes")
	keepsUmask       = !control.Is("noumask")
	keepsLimits      = !control.Is("nolimits")
	keepsDir         = !control.Is("nofolder")
	keepsGiven       = !control.Is("nogiven")
	keepsPermits     = !control.Is("nopermits")
	keepsOwners      = !control.Is("noowners")
	keepsSpecials    = !control.Is("nospecials")
	keepsDates       = !control.Is("nodates")
	keepsDaters      = !control.Is("nodaters")
	keepsLanguages   = !control.Is("nolanguages")
	keepsAsked       = !control.Is("noasked")
	keepsPrinted     = !control.Is("noprinted")
	keepsTwins       = !control.Is("notwins")
	keepsCompiled    = !control.Is("nocompiled")
	keepsScratch     = !control.Is("noscratch")
	keepsAdded       = !control.Is("noadded")
	seesCompilers    = !control.Is("nocompilers")
	seesRemovals     = !control.Is("noremovals")
	keepsShared      = !control.Is("noshared")
)
