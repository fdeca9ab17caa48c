//go:build control_topfile

package include

const followHeaders = false
