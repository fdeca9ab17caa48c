//go:build control

package include

import "jitcache/core/control"

var followHeaders = !control.Is("topfile")
