//go:build !control

package limits

// Tests are shown to notice when this is taken out (package control): the limit is put
// back.
const restores = true
