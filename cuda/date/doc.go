// Package date looks through texts for what would show the time of a compile:
// __DATE__, __TIME__ and __TIMESTAMP__.
//
// NVRTC asks for the time in each compile, so that it asks proves nothing; the text
// does. Of what a preprocessor can make of it nothing is modelled. A text is suspect if
// one of the words is in it, in a comment too, with lines spliced, or with anything
// between its letters that belongs to no identifier: so CAT(__TI, ME__) is suspect. And
// several texts are if a word can be put together of at most four whole identifiers
// that are in them, wherever those are: so -DA=__TI and a header's "#define B ME__"
// are. No header of CUDA 12.9 or 13.5, and none of CCCL, is.
//
// What is left is a word that is pasted of five pieces or more, each from another place.
package date
