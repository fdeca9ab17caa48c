// Bundles as OCI images.

package bundle

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/klauspost/compress/zstd"

	"jitcache/core"
	"jitcache/core/blob"
	"jitcache/core/key"
)

// An OCI image layout (image-spec 1.1) is an index, and blobs by their digests. The image
// has one layer, with a cache directory in its root. So the path where an engine mounts the
// image can be named as a layer of a cache.

// The media types of the specification.
const (
	mediaManifest = "application/vnd.oci.image.manifest.v1+json"
	mediaIndex    = "application/vnd.oci.image.index.v1+json"
	mediaConfig   = "application/vnd.oci.image.config.v1+json"
	mediaLayer    = "application/vnd.oci.image.layer.v1.tar+zstd"
)

// descriptor is how the specification names a blob.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// CreateImage makes a folder that is an OCI image layout with the entries of ids. It
// appears at path when it is complete, and must not exist before.
func CreateImage(c *core.Cache, ids []key.ID, path string, p Progress) (packed Packed, err error) {
	err = whole(path, func(draft string) error {
		if err := makeFolder(path, draft); err != nil {
			return err
		}
		blobs := filepath.Join(draft, "blobs", "sha256")
		if err := os.MkdirAll(blobs, 0o755); err != nil {
			return err
		}
		var layer descriptor
		var plain string
		if layer, plain, packed, err = writeLayer(blobs, c, ids, p); err != nil {
			return err
		}
		return writeIndex(draft, blobs, layer, plain)
	})
	return packed, err
}

// writeLayer writes the image's layer; plain is the digest of the uncompressed layer.
func writeLayer(blobs string, c *core.Cache, ids []key.ID, p Progress) (d descriptor, plain string, packed Packed, err error) {
	draft := filepath.Join(blobs, "layer.part")
	f, err := os.Create(draft)
	if err != nil {
		return d, "", packed, err
	}
	outer, inner := &summed{to: f, sum: sha256.New()}, &summed{sum: sha256.New()}
	z, err := zstd.NewWriter(outer)
	if err == nil {
		inner.to = z
		packed, err = writeTree(tar.NewWriter(inner), c, ids, p)
		err = errors.Join(err, z.Close())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return d, "", packed, err
	}
	d = descriptor{MediaType: mediaLayer, Digest: outer.digestText(), Size: outer.size}
	return d, inner.digestText(), packed, os.Rename(draft, filepath.Join(blobs, d.Digest[len("sha256:"):]))
}

// writeTree writes a cache directory (docs/format.md), with as much as a layer needs.
func writeTree(t *tar.Writer, c *core.Cache, ids []key.ID, p Progress) (Packed, error) {
	folder := func(name string) error { return t.WriteHeader(header(name, 0, 0)) }
	const version = "jitcache 1\n"
	err := errors.Join(folder("v1/"), t.WriteHeader(header("v1/VERSION", int64(len(version)), 0)))
	if err == nil {
		_, err = io.WriteString(t, version)
	}
	if err = errors.Join(err, folder("v1/entries/")); err != nil {
		return Packed{}, err
	}
	shard := ""
	packed, err := each(c, ids, p, func(b *blob.Blob) error {
		id := key.ID(b.ID())
		name := nameOf(&id)
		if at := "v1/" + name[:len(prefix)+3]; at != shard {
			shard = at
			if err := folder(at); err != nil {
				return err
			}
		}
		return writeFile(t, "v1/"+name, b)
	})
	if err == nil {
		err = t.Close()
	}
	return packed, err
}

// writeIndex writes the configuration, the manifest and the index of the image.
func writeIndex(draft, blobs string, layer descriptor, plain string) error {
	config := map[string]any{
		"architecture": runtime.GOARCH, "os": "linux", "created": time.Unix(0, 0).UTC(),
		"config": map[string]any{}, "rootfs": map[string]any{"type": "layers", "diff_ids": []string{plain}},
	}
	c, err := writeBlob(blobs, mediaConfig, config)
	if err != nil {
		return err
	}
	m, err := writeBlob(blobs, mediaManifest, map[string]any{
		"schemaVersion": 2, "mediaType": mediaManifest, "config": c, "layers": []descriptor{layer},
	})
	if err != nil {
		return err
	}
	m.Annotations = map[string]string{"org.opencontainers.image.ref.name": "latest"}
	index := map[string]any{"schemaVersion": 2, "mediaType": mediaIndex, "manifests": []descriptor{m}}
	for name, v := range map[string]any{"index.json": index, "oci-layout": map[string]any{"imageLayoutVersion": "1.0.0"}} {
		text, err := json.Marshal(v)
		if err == nil {
			err = os.WriteFile(filepath.Join(draft, name), text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func writeBlob(blobs, mediaType string, v any) (d descriptor, err error) {
	text, err := json.Marshal(v)
	if err != nil {
		return d, err
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(text))
	d = descriptor{MediaType: mediaType, Digest: "sha256:" + sum, Size: int64(len(text))}
	return d, os.WriteFile(filepath.Join(blobs, sum), text, 0o644)
}

// summed is a writer that computes the size and the digest of what is written to it.
type summed struct {
	to   io.Writer
	sum  hash.Hash
	size int64
}

func (s *summed) Write(p []byte) (int, error) {
	s.sum.Write(p)
	s.size += int64(len(p))
	return s.to.Write(p)
}

func (s *summed) digestText() string { return fmt.Sprintf("sha256:%x", s.sum.Sum(nil)) }
