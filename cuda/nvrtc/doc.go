// Package nvrtc runs NVIDIA's runtime compiler, and says what its options mean
// to a cache: which change the result, which read files, which write some.
//
// It knows neither where the library is (package dl) nor what it may include
// (package include).
package nvrtc
