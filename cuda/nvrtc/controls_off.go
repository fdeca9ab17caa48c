//go:build control

package nvrtc

import "jitcache/core/control"

var loadsBuiltins = !control.Is("nobuiltins")
