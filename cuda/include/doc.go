// Package include finds every file that NVRTC could read for a CUDA source.
//
// NVRTC cannot say which headers it has read, so the package reads the source
// as NVRTC's front end would, and errs on one side: it takes every branch of
// every #if, and every definition that a macro has anywhere. A file too many
// costs a stat; a file too few is a wrong hit.
//
//	c, err := include.Find(&include.Request{Source: src, Name: "k.cu", Dirs: []string{"inc"}})
//	var refused *request.Refused
//	if errors.As(err, &refused) { … } // compile, and do not cache
//
// A [Closure] has the files and the names that were looked for in vain, for a
// later check by stat ([manifest.List]), and a digest of what was found, for the
// key of the result.
//
// The rules by which NVRTC looks for a header are in docs/cuda-includes.md, with
// how each was seen; the tests hold them against the real library.
//
// What is not in the package: NVRTC itself, its options beyond those in
// [Request], and the environment. Paths that are relative start at the working
// directory of the process, as they do for NVRTC.
package include
