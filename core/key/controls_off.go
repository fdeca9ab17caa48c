//go:build control

package key

import "jitcache/core/control"

var checkInputs = !control.Is("noinputs")
