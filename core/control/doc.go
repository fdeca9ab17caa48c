// Package control says which mechanisms a control build leaves out.
//
// A test that passes without the mechanism that it tests proves nothing. So each
// mechanism behind a promise can be taken out. It is declared once, in the controls.go of
// its room, as a constant with the name of its control:
//
//	checkPayload = true // nochecksum: payload and attributes have checksums
//
// In normal builds that costs nothing, and nobody can switch it off. From the declarations
// `go generate ./core/control` writes the room's controls_off.go, where the constant is a
// variable that asks [Is], and controls.txt, which has all names. A test names its control
// beside itself (tests/areas/control_tests.py), and must fail in a build without the
// mechanism. build_library.py and tests/areas make such builds:
//
//	go test -tags control -ldflags "-X jitcache/core/control.out=nolease" ./core/lease
package control

//go:generate go test ../../tests/arch -count=1 -run TestControlFilesAreWhatIsGeneratedFromTheDeclarations -update
