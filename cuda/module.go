package cuda

import (
	"unsafe"

	"jitcache/core/blob"
	"jitcache/cuda/driver"
)

// Module is code that the driver has loaded into a context.
type Module struct {
	loaded  *driver.Module
	lowered map[string]string
}

// Load gives code to the driver, on the calling thread and in its current
// context. It loads the driver if need be.
func (r *Request) Load(b *blob.Blob) (*Module, error) {
	rec, err := r.record()
	if err != nil {
		return nil, err
	}
	d, err := driver.Open(rec.driver)
	if err != nil {
		return nil, err
	}
	m, err := d.Load(b)
	if err != nil {
		return nil, err
	}
	return &Module{m, ParseAttributes(b.Attributes()).Lowered}, nil
}

// IsRefused reports whether an error of Load is the code's fault.
func IsRefused(err error) bool { return driver.Refused(err) }

// Handle returns the CUmodule.
func (m *Module) Handle() unsafe.Pointer { return m.loaded.Handle() }

// Function returns the CUfunction of a name in the code, or of a name expression
// of the request.
func (m *Module) Function(name string) (unsafe.Pointer, error) {
	if lowered, ok := m.lowered[name]; ok {
		name = lowered
	}
	return m.loaded.Function(name)
}

// Unload gives the module up.
func (m *Module) Unload() { m.loaded.Unload() }
