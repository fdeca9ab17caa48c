// Package date searches texts for words that would show the time of a compile: __DATE__,
// __TIME__ and __TIMESTAMP__.
//
// NVRTC asks for the time in each compile, so its asking proves nothing. Only the texts
// can tell. The package does not model the preprocessor. A text is suspect if it contains
// one of the words, even in a comment, with spliced lines, or with characters between its
// letters that belong to no identifier: CAT(__TI, ME__) is suspect. Several texts are
// suspect if at most four of their whole identifiers, wherever they are, can be pasted to
// one of the first two words: -DA=__TI and a header's "#define B ME__" are suspect. No
// header of CUDA 12.9, CUDA 13.5 or CCCL is.
//
// A word that is pasted from five or more pieces in different places is not found.
package date
