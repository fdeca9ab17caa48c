package cli

// #cgo CFLAGS: -I${SRCDIR}/../include
// #include <jitcache.h>
import "C"

// Version is what `jitcache version` prints: that of the header, the one place
// where it is stated (CONTRIBUTING.md, "A release").
const Version = C.JITCACHE_VERSION
