// Package engine has the engines that a remote may be: Redis, S3, an HTTP server, a
// directory. Each keeps values under names, and says in the same few words what has
// become of a request. What the values are is not its business.
package engine
