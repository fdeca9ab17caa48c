// Package control says which mechanisms a control build leaves out.
//
// A test that passes without the mechanism that it tests proves nothing. So each
// mechanism behind a promise can be taken out. A room names its mechanisms in two
// files. In controls.go, for normal builds, each is the constant true: it costs
// nothing, and nobody can switch it off. In controls_off.go, for control builds, it
// asks [Is].
//
// controls.txt has all names. build_library.py and tests/areas build by them:
//
//	go test -tags control -ldflags "-X jitcache/core/control.out=nolease" ./core/lease
package control
