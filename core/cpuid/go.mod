module github.com/klauspost/cpuid/v2

go 1.26
