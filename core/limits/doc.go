// Package limits puts the limit on open files back, which Go raises when it starts. The
// host and the processes that it starts must not notice that Go is inside. And a command
// must run under the limit that its caller has set.
package limits
