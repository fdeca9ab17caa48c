// Package control says what a control build of the tests goes without.
//
// A test that passes without the mechanism that it is for proves nothing. So
// each mechanism behind a promise can be taken out: the rooms name theirs in two
// files. In controls.go, of every other build, each is a constant, true, so that
// it costs nothing and nobody can switch it off; in controls_off.go, of control
// builds, it asks [Is].
//
// All names stand in controls.txt. build_library.py and tests/areas build by them:
//
//	go test -tags control -ldflags "-X jitcache/core/control.out=nolease" ./core/lease
package control
