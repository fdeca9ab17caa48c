//go:build control_follow

package store

const refuseLinks = 0
