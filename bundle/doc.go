// Package bundle makes entries of a cache one file that can be carried to another machine,
// and takes such a file in.
//
// A bundle is a tar archive, compressed by zstd, of the files of entries. It comes from
// anywhere, so the reader believes nothing of it: see Reader. What an entry says is
// believed if it is signed by somebody who is trusted (core/trust), or if the user has
// said that it need not be. docs/format.md has the format.
//
// It belongs to the command alone: the library goes without tar and zstd.
package bundle
