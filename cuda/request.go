// Request: what NVRTC is to compile.

package cuda

import (
	"fmt"

	"jitcache/core/key"
	"jitcache/core/request"
	"jitcache/cuda/dl"
	"jitcache/cuda/nvrtc"
)

// Request is what to compile. Its bytes belong to the caller, who may free them after the
// call. So nothing that outlives a call refers to them.
type Request struct {
	Source []byte
	Parts  []byte // all but the source, see request.ReadParts
	// The digests of both, by which a request is recognized.
	SourceDigest, PartsDigest key.Digest
}

// The letters of parts. jitcache_cuda.h explains those that hosts use.
const (
	partName       = 'N'
	partTarget     = 'T'
	partOption     = 'o'
	partHeader     = 'h' // the name of a header
	partText       = 't' // the text of the header before
	partExpression = 'e'
	partNVRTC      = 'n'
	partDriver     = 'd'
	partHome       = 'H' // the folder of a CUDA toolkit
	partPackages   = 'p' // a folder of Python packages
	partKind       = 'k' // the kind of the entries; default: the target
)

// defaultName is the name of a source without one.
const defaultName = "kernel.cu"

// parts are the parsed parts of a request. The texts are copies.
type parts struct {
	name        string
	target      nvrtc.Target
	kind        string // "": the target's name
	options     []string
	headers     []nvrtc.Header
	expressions []string
	compiler    dl.Locations
	driver      dl.Locations
}

func parseRequest(b []byte) (*parts, error) {
	p := &parts{name: defaultName}
	if err := request.ReadParts(b, p.takePart); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *parts) takePart(letter byte, value []byte) error {
	text := string(value)
	switch letter {
	case partName:
		p.name = text
	case partTarget:
		target, ok := nvrtc.ParseTarget(text)
		if !ok {
			return fmt.Errorf("request: target %.40q: want cubin, ptx or ltoir", text)
		}
		p.target = target
	case partKind:
		if err := key.CheckKind(text); err != nil {
			return fmt.Errorf("request: %w", err)
		}
		p.kind = text
	case partOption:
		p.options = append(p.options, text)
	case partHeader:
		p.headers = append(p.headers, nvrtc.Header{Name: text})
	case partText:
		if len(p.headers) == 0 {
			return request.ErrParts
		}
		p.headers[len(p.headers)-1].Text = text
	case partExpression:
		p.expressions = append(p.expressions, text)
	case partNVRTC:
		p.compiler.Explicit = text
	case partDriver:
		p.driver.Explicit = text
	case partHome:
		p.compiler.Homes = append(p.compiler.Homes, text)
	case partPackages:
		p.compiler.Wheels = append(p.compiler.Wheels, text)
	default:
		return request.ErrParts
	}
	return nil
}
