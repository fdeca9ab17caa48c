// What the process remembers of a request: the NVRTC, the device, and the command of both.

package cuda

import (
	"fmt"
	"sync"

	"jitcache/command"
	"jitcache/core/key"
	"jitcache/core/request"
	"jitcache/cuda/dl"
	"jitcache/cuda/driver"
)

// schema is a component of every request's key. It changes when the same request must give
// another result, or when earlier records lacked something.
const schema = "cuda 2"

// known is what the process remembers of a request between calls. A hit then looks only at
// files and devices.
type known struct {
	parts   *parts // without the texts of headers, which are large
	headers key.Digest
	arch    string // the architecture in the options, "" if there is none
	size    int    // of the source
	source  key.Digest

	mu    sync.Mutex
	spec  *command.Spec // the last one, made for this nvrtc and sm
	nvrtc string
	sm    string
}

// maxKnown bounds the requests that the process remembers. One takes some kilobytes, and
// some hundred with a large list.
const maxKnown = 256

var requests = request.NewTable[[2]key.Digest, *known](maxKnown)

// known returns what is known of the request. The error says that it is malformed.
func (r *Request) known() (*known, error) {
	return requests.Get([2]key.Digest{r.SourceDigest, r.PartsDigest}, func() (*known, error) {
		p, err := parseRequest(r.Parts)
		if err != nil {
			return nil, err
		}
		k := &known{parts: p, arch: archOf(p.options), size: len(r.Source), source: r.SourceDigest}
		var all []byte
		for _, h := range p.headers {
			all = key.AppendPacked(all, h.Name, key.Bytes, []byte(h.Text))
		}
		k.headers, p.headers = key.Sum(all), nil
		return k, nil
	})
}

// findNVRTC returns the NVRTC to use. The last answer holds until the process loads or unloads a
// library. If its file is gone, the list notices that.
func (k *known) findNVRTC() (dl.File, error) {
	if file, ok := dl.Last(dl.NVRTC, k.parts.compiler); ok {
		return file, nil
	}
	file, err := dl.Find(dl.NVRTC, k.parts.compiler)
	if err != nil {
		return file, libraryError{err}
	}
	return file, nil
}

// device returns the architecture of the current device, "" if the options name one.
// NVRTC's own default is an old architecture that changes from version to version.
func (k *known) device() (string, error) {
	if k.arch != "" {
		return "", nil
	}
	d, err := driver.Open(k.parts.driver)
	if err == nil {
		var arch string
		if arch, err = d.Arch(); err == nil {
			return arch, nil
		}
	}
	return "", fmt.Errorf("no --gpu-architecture is given, and the device is not known: %w", err)
}

// specFor returns the request as a command.Spec, for an NVRTC and a device.
func (k *known) specFor(nvrtc, sm string) *command.Spec {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.spec == nil || k.nvrtc != nvrtc || k.sm != sm {
		k.spec, k.nvrtc, k.sm = k.newSpec(nvrtc, sm), nvrtc, sm
	}
	return k.spec
}

func (k *known) newSpec(nvrtc, sm string) *command.Spec {
	p := k.parts
	texts := func(label string, texts ...string) command.Part {
		return command.Part{Label: label, Value: key.AppendTexts(nil, texts...)}
	}
	s := &command.Spec{Kind: p.target.String(), More: []command.Part{
		texts("compiles", schema),
		{Label: "source", Digest: k.source, Size: k.size},
		texts("source's name", p.name),
		texts("target", p.target.String()),
		texts("device", sm),
		texts("options", p.options...),
		texts("name expressions", p.expressions...),
		{Label: "headers in memory", Value: k.headers[:]},
		texts("nvrtc", nvrtc),
	}}
	if p.kind != "" { // a caller with a kind of its own has entries of its own
		s.Kind = p.kind
		s.More = append(s.More, texts("kind", p.kind))
	}
	if p.name != defaultName {
		s.Name = p.name
	}
	return s
}

// spec returns the request for the NVRTC that is found now, and the current device.
func (r *Request) spec() (k *known, s *command.Spec, file dl.File, err error) {
	if k, err = r.known(); err != nil {
		return nil, nil, file, err
	}
	if file, err = k.findNVRTC(); err != nil {
		return nil, nil, file, err
	}
	sm, err := k.device()
	if err != nil {
		return nil, nil, file, err
	}
	return k, k.specFor(file.Path, sm), file, nil
}
