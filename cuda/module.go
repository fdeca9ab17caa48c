// Loads code into the current context.

package cuda

import (
	"unsafe"

	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/cuda/driver"
)

// Module is code that the driver has loaded into a context.
type Module struct {
	loaded  *driver.Module
	lowered map[string]string
}

// Load gives code to the driver, on the calling thread and in its current context. It opens
// the driver if that is not yet open.
func (r *Request) Load(b *blob.Blob) (*Module, error) {
	k, err := r.known()
	if err != nil {
		return nil, err
	}
	d, err := driver.Open(k.parts.driver)
	if err != nil {
		return nil, err
	}
	m, err := d.Load(b.Data(), imageID(b))
	if err != nil {
		return nil, err
	}
	return &Module{m, ParseAttributes(b.Attributes()).Lowered}, nil
}

// imageID identifies an image by its content. The key would not do: code that the driver
// refused is compiled again under the same key.
func imageID(b *blob.Blob) [32]byte { return key.Sum(b.Data()) }

// IsRefused reports whether an error of Load is about the code itself.
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

// Release gives the module up. The last Release unloads it, in the context that it was
// loaded into.
func (m *Module) Release() error { return m.loaded.Release() }
