//go:build control

package cpu

import "jitcache/core/control"

var thisOne = !control.Is("othercpu")
