// Package trust knows whose entries are used besides the user's own, and who may say so.
//
// These settings choose whose code a program runs. So they are read only from places
// that the user or root has written: the environment, $XDG_CONFIG_HOME/jitcache and
// /etc/jitcache. They are never read from a cache directory, which may have come from
// elsewhere, or which a group may write.
package trust
