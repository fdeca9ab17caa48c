//go:build !control

package observe

// Mechanisms, each with the name of the control that takes it out (package control).
const (
	checksRoom  = true // noroom: where files may not be large nothing is observed
	endsInOrder = true // noorderlyend: who is cancelled is waited for by those who started it
)
