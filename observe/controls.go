//go:build !control

package observe

// Tests are shown to notice when one of these is taken out (package control):
const (
	checksRoom  = true // where files may not be large nothing is observed
	endsInOrder = true // who is cancelled is waited for by those who started it
)
