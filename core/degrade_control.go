//go:build control_nodegrade

package core

const degrade = false
