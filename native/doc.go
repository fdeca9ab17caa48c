// Package native knows what the result of a C or C++ compiler depends on.
//
// A [Request] is how one would call the compiler. Its Key covers the compiler by
// what it is, the flags, the environment, and every file that the compiler reads,
// found or looked for in vain. The package runs nothing: where only the compiler
// knows, Key returns a [Question], a command for the caller to run, and Answer
// takes what it printed. Answers are noted in the cache, so that a hit asks stat
// and nothing else, in the next process too.
package native
