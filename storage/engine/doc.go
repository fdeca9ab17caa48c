// Package engine has the engines of remotes: Redis, S3, HTTP servers, directories. Each keeps
// values under names, and reports the result of a request by the same few errors. It does not
// know what the values are.
package engine
