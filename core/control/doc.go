// Package control says what a control build of the tests goes without.
//
// A test that passes without the mechanism that it tests proves nothing. So
// each mechanism behind a promise can be taken out: a room names its own in two
// files. In controls.go, for normal builds, each is a constant, true, so that it
// costs nothing and nobody can switch it off. In controls_off.go, for control
// builds, it asks [Is].
//
// controls.txt has all names. build_library.py and tests/areas build by them:
//
//	go test -tags control -ldflags "-X jitcache/core/control.out=nolease" ./core/lease
package control
