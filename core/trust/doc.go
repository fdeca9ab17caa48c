// Package trust knows whose entries are used beside one's own, and who may say so.
//
// Who says that, chooses whose code a program runs. So it is read only from places
// that a user writes himself, or root does: the environment, $XDG_CONFIG_HOME/jitcache,
// and /etc/jitcache. It is never read from a cache directory, which may have come from
// elsewhere, or be written by a group.
package trust
