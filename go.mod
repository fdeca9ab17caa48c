module jitcache

go 1.26.0

require (
	github.com/gofrs/flock v0.13.1
	github.com/klauspost/compress v1.20.3
	github.com/klauspost/cpuid/v2 v2.2.10
	github.com/mattn/go-pointer v0.0.1
	github.com/peterbourgon/ff/v3 v3.4.0
	github.com/zeebo/xxh3 v1.1.0
	golang.org/x/sys v0.49.0
	lukechampine.com/blake3 v1.4.1
)

replace github.com/klauspost/cpuid/v2 => ./core/cpuid
