//go:build control

package wire

import "jitcache/core/control"

var bounded = !control.Is("anyvalue")
