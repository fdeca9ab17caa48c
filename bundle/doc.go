// Package bundle packs entries of a cache into one file, which can be carried to another
// machine, and takes the entries of such a file into a cache.
//
// A bundle is a tar archive of entry files, compressed by zstd. It may come from anybody,
// so the Reader trusts nothing in it. An entry is accepted if a trusted key has signed it
// (core/trust), or if the user accepts unsigned entries. docs/format.md has the format.
//
// Only the command uses this package: the library does without tar and zstd.
package bundle
