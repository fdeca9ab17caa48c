// Bundles that were made to harm: forged entries, bombs, members that no bundle has.

package bundle

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/store"
	"jitcache/core/trust"
)

func nothing(int, *Member, *blob.Blob) {}

func compressed(t testing.TB, data []byte) []byte {
	t.Helper()
	var to bytes.Buffer
	z, err := zstd.NewWriter(&to, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		t.Fatal(err)
	}
	z.Write(data)
	z.Close()
	return to.Bytes()
}

func decompressed(t testing.TB, data []byte) []byte {
	t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// forged is a member that an attacker may have made.
type forged struct {
	tar.Header
	data string
}

func archive(t testing.TB, members ...forged) []byte {
	t.Helper()
	var to bytes.Buffer
	w := tar.NewWriter(&to)
	for i := range members {
		h := members[i].Header
		if h.Size == 0 {
			h.Size = int64(len(members[i].data))
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, members[i].data)
	}
	w.Close()
	return compressed(t, to.Bytes())
}

// good returns the members of a bundle.
func good(t testing.TB, n int, by ...trust.Secret) (all []forged) {
	t.Helper()
	r := tar.NewReader(bytes.NewReader(decompressed(t, packed(t, warmed(t, n, by...)))))
	for {
		h, err := r.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(r)
		all = append(all, forged{*h, string(data)})
	}
}

// attack replaces the second of four members, and has the expected error.
type attack struct {
	name string
	does func(m *forged)
	says string
}

func attacks() []attack {
	typed := func(flag byte) func(m *forged) {
		return func(m *forged) { m.Typeflag, m.Linkname, m.Size, m.data = flag, "/etc/passwd", 0, "" }
	}
	named := func(name string) func(m *forged) {
		return func(m *forged) { m.Name, m.Format = name, tar.FormatUnknown }
	}
	const noName = "this is not the name of an entry"
	return []attack{
		{"symbolic link", typed(tar.TypeSymlink), "it is a link"},
		{"hard link", typed(tar.TypeLink), "it is a link"},
		{"character device", typed(tar.TypeChar), "it is a device"},
		{"block device", typed(tar.TypeBlock), "it is a device"},
		{"pipe", typed(tar.TypeFifo), "it is a pipe"},
		{"folder", typed(tar.TypeDir), "it is a folder"},
		{"something else", typed('V'), "it is not a regular file"},
		{"regular file that is a link", func(m *forged) { m.Linkname = "/etc/passwd" }, "it is a link"},
		{"out of the directory", named("entries/../../../../etc/passwd"), noName},
		{"out and in again", func(m *forged) { m.Name = "entries/xx/../" + m.Name[len("entries/"):] }, noName},
		{"absolute", func(m *forged) { m.Name = "/" + m.Name }, noName},
		{"with a dot", func(m *forged) { m.Name = "./" + m.Name }, noName},
		{"settings", named("config"), noName},
		{"settings below", named("v1/config"), noName},
		{"keys", named("entries/keys"), noName},
		{"upper case", func(m *forged) { m.Name = strings.ToUpper(m.Name[:20]) + m.Name[20:] }, noName},
		{"longer", func(m *forged) { m.Name += "x" }, noName},
		{"with a line", func(m *forged) { m.Name, m.Format = "entries/\n\x1b[2Jx", tar.FormatGNU }, noName},
		{"shard", named("entries/00"), noName},
		{"extended header", func(m *forged) {
			m.Format, m.PAXRecords = tar.FormatPAX, map[string]string{"SCHILY.xattr.user.x": "1"}
		}, "its header has extensions"},
		{"flipped bit", func(m *forged) { m.data = "P" + m.data[1:] }, "it cannot be used: checksum"},
		{"shortened", func(m *forged) { m.data, m.Size = m.data[:len(m.data)-1], 0 }, "it cannot be used: truncated"},
		{"empty", func(m *forged) { m.data, m.Size = "", 0 }, "it cannot be used: truncated"},
	}
}

//jitcache:control nochecksum flipped_bit
//jitcache:control anymember symbolic_link twice
func TestMemberThatNoBundleHasEndsItWithALineThatNamesIt(t *testing.T) {
	by := secret(t)
	all := good(t, 4, by)
	for _, a := range attacks() {
		t.Run(a.name, func(t *testing.T) {
			members := slices.Clone(all)
			a.does(&members[1])
			before := 1
			if strings.HasPrefix(a.says, "it cannot be used") {
				before = 3 // the others were read by the time this is found
			}
			refusedAt(t, archive(t, members...), members[1].Name, a.says, before, by)
		})
	}
	t.Run("twice", func(t *testing.T) {
		refusedAt(t, archive(t, all[0], all[1], all[1]), all[1].Name, "it is there twice", 2, by)
	})
	t.Run("twice, with another between", func(t *testing.T) {
		refusedAt(t, archive(t, all[0], all[1], all[0]), all[0].Name, "out of order", 2, by)
	})
	t.Run("under another key", func(t *testing.T) {
		moved := all[1]
		moved.Name = all[2].Name
		refusedAt(t, archive(t, all[0], moved), moved.Name, "foreign key", 1, by)
	})
}

// refusedAt adds a bundle. The error must be one line that names the member. The members
// before it must be there, and nothing else.
func refusedAt(t *testing.T, data []byte, member, says string, before int, by trust.Secret) {
	t.Helper()
	own := open(t, t.TempDir()+"/own", env{"JITCACHE_KEYS": by.Public().String()})
	outside := tree(t, root(t, own))
	_, err := Add(own, bytes.NewReader(data), AddOptions{Bounds: Usual})
	if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), Printable(member)) {
		t.Errorf("it says %v; want %q of %s", err, says, Printable(member))
	}
	if err != nil && strings.ContainsAny(err.Error(), "\n\x1b") {
		t.Errorf("%q is not a line", err)
	}
	if n := len(files(t, root(t, own))); n > before {
		t.Errorf("%d were added, %d came before", n, before)
	}
	if now := tree(t, root(t, own)); now != outside {
		t.Errorf("beside entries there is\n%s\nand was\n%s", now, outside)
	}
}

// tree lists what is beside the directory and in it, without what Add may change.
func tree(t *testing.T, dir string) (all string) {
	t.Helper()
	for _, at := range []string{dir + "/..", dir, dir + "/v1"} {
		names, err := os.ReadDir(at)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range names {
			all += at + "/" + n.Name() + "\n"
		}
	}
	config, _ := os.ReadFile(dir + "/v1/config")
	return all + string(config)
}

//jitcache:control takesany
func TestEntryThatWasChangedHasNoSignatureAnyMore(t *testing.T) {
	by := secret(t)
	c := warmed(t, 4, by)
	s, _ := c.Store()
	k := testKey(t, 1)
	b, why := s.Get(&k.ID)
	if why != store.None {
		t.Fatal(why)
	}
	signature := store.ReadRecords(b).Signatures[0]
	for name, change := range map[string]func(it *store.Item){
		"payload":    func(it *store.Item) { it.Payload = []byte("forged") },
		"attributes": func(it *store.Item) { it.Attributes = `{"from":"somebody"}` },
		"kind":       func(it *store.Item) { it.Key.Kind = "cubin" },
		"name":       func(it *store.Item) { it.Key.Name = "another" },
		"key":        func(it *store.Item) { it.Key.ID = key.ID{1} },
		"time":       func(*store.Item) {},
	} {
		t.Run(name, func(t *testing.T) {
			evil := open(t, t.TempDir()+"/evil", nil)
			moved := *k
			it := store.Item{Key: &moved, Payload: payload(1), Attributes: `{"from":"CI"}`}
			change(&it)
			s, _ := evil.Store()
			if _, why := s.Put(it); why != store.None {
				t.Fatal(why)
			}
			b, _ := s.Get(&it.Key.ID)
			if why := s.AddSignature(b, signature); why != store.None {
				t.Fatal(why)
			}
			own := open(t, t.TempDir()+"/own", env{"JITCACHE_KEYS": by.Public().String()})
			sum, err := Add(own, bytes.NewReader(packed(t, evil)), AddOptions{Bounds: Usual})
			if err != nil || sum.New != 0 || sum.Unsigned != 1 || !strings.Contains(sum.Who.Error(), "a signature is not of this entry") {
				t.Errorf("%+v, %v", sum, err)
			}
		})
	}
}

//jitcache:control anylength
func TestBoundsHold(t *testing.T) {
	by := secret(t)
	all := good(t, 4, by)
	size := all[0].Size
	for _, row := range []struct {
		name   string
		bounds Bounds
		says   string
	}{
		{"entry", Bounds{size - 10, 1 << 30, 100}, "an entry may have"},
		{"total", Bounds{1 << 20, 3 * size, 100}, "more than the"},
		{"count", Bounds{1 << 20, 1 << 30, 2}, "a bundle may have 2 entries"},
	} {
		err := Each(bytes.NewReader(archive(t, all...)), row.bounds, nothing)
		if err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

// bombed returns a stream of a head and a number of blocks.
func bombed(t *testing.T, head, block []byte, count int) []byte {
	t.Helper()
	var to bytes.Buffer
	z, err := zstd.NewWriter(&to, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		t.Fatal(err)
	}
	z.Write(head)
	for range count {
		z.Write(block)
	}
	z.Close()
	return to.Bytes()
}

//jitcache:control anylength
func TestBombIsNotDecompressedBeyondTheBounds(t *testing.T) {
	bounds := Bounds{Entry: 1 << 20, Total: 64 << 20, Count: 100}
	large := make([]byte, 1<<20)
	var folder bytes.Buffer // a header that describes the next header
	w := tar.NewWriter(&folder)
	w.WriteHeader(&tar.Header{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"comment": strings.Repeat("x", 900<<10)}})
	w.Flush()
	local := append(slices.Clone(folder.Bytes()), make([]byte, (512-folder.Len()%512)%512)...)
	local[156] = 'x'
	checksum(local)
	whole := decompressed(t, archive(t, good(t, 2)...))
	for name, data := range map[string][]byte{
		"zeros":               bombed(t, nil, large, 200),
		"zeros after the end": bombed(t, whole, large, 200),
		"headers of headers":  bombed(t, nil, local, 200),
		"one large member":    bombed(t, headerOf(t, 1<<30), large, 200),
	} {
		r, err := NewReader(bytes.NewReader(data), bounds)
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = r.Next()
		}
		if err == io.EOF || r.plain.read > bounds.Total+(8<<20) {
			t.Errorf("%s: %v after %d bytes", name, err, r.plain.read)
		}
		t.Logf("%s: %d bytes for %d: %v", name, len(data), r.plain.read, err)
		r.Close()
	}
}

func headerOf(t *testing.T, size int64) []byte {
	t.Helper()
	var to bytes.Buffer
	id := key.ID{}
	if err := tar.NewWriter(&to).WriteHeader(header(nameOf(&id), size, 0)); err != nil {
		t.Fatal(err)
	}
	return to.Bytes()
}

func checksum(block []byte) {
	copy(block[148:156], "        ")
	sum := 0
	for _, b := range block[:512] {
		sum += int(b)
	}
	copy(block[148:156], fmt.Sprintf("%06o\x00 ", sum))
}

func TestStreamThatRefersTooFarBackIsRefused(t *testing.T) {
	// A frame that asks for a window of 3.5 TB: exponent and mantissa all ones.
	frame := append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xff}, make([]byte, 100)...)
	if err := Each(bytes.NewReader(frame), Usual, nothing); err == nil || !strings.Contains(err.Error(), "window") {
		t.Error(err)
	}
}

//jitcache:control anylength
func TestMillionMembersAreTooMany(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	const million = 1_000_000
	e := good(t, 1)[0]
	var to bytes.Buffer
	z, err := zstd.NewWriter(&to, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for n := range million {
		h := e.Header
		id := key.ID{byte(n >> 16), byte(n >> 8), byte(n)}
		h.Name, h.Size = nameOf(&id), 0
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	z.Close()
	r, err := NewReader(&to, Usual)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := 0
	for ; err == nil; n++ {
		_, err = r.Next()
	}
	if n != Usual.Count+1 || !strings.Contains(err.Error(), "a bundle may have 500000 entries") {
		t.Errorf("after %d: %v", n, err)
	}
}

// A file that is rewritten while it is read gives what was signed, or an error: only
// verified bytes are stored.
//
//jitcache:control takesany
func TestBundleThatIsRewrittenWhileItIsReadAddsOnlyWhatWasSigned(t *testing.T) {
	by := secret(t)
	c := warmed(t, 60, by)
	signed := files(t, root(t, c))
	whole := packed(t, c)
	evil := warmed(t, 60, secret(t))
	path := t.TempDir() + "/bundle"
	if err := os.WriteFile(path, whole, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(path, path+".too"); err != nil { // another name of it
		t.Fatal(err)
	}
	stop := make(chan bool)
	var writers sync.WaitGroup
	for _, data := range [][]byte{whole, packed(t, evil), decompressed(t, whole)} {
		writers.Go(func() {
			f, err := os.OpenFile(path+".too", os.O_WRONLY, 0)
			if err != nil {
				return
			}
			defer f.Close()
			for {
				select {
				case <-stop:
					return
				default:
					f.WriteAt(data[:min(len(data), len(whole))], 0)
				}
			}
		})
	}
	added := 0
	for range 30 {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		own := open(t, t.TempDir()+"/own", env{"JITCACHE_KEYS": by.Public().String()})
		Add(own, f, AddOptions{Bounds: Usual})
		f.Close()
		for name, data := range files(t, root(t, own)) {
			added++
			if signed[name] != data {
				t.Fatalf("%s is not what was signed", name)
			}
		}
	}
	close(stop)
	writers.Wait()
	t.Logf("%d entries were added", added)
}

func FuzzReader(f *testing.F) {
	all := good(f, 2)
	f.Add(decompressed(f, archive(f, all...)))
	f.Add(decompressed(f, archive(f, all[0], all[0])))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		bounds := Bounds{Entry: 1 << 16, Total: 1 << 20, Count: 10}
		last, n := "", 0
		err := Each(bytes.NewReader(compressed(t, data)), bounds, func(_ int, m *Member, b *blob.Blob) {
			n++
			id := key.ID(b.ID())
			if m.Name != nameOf(&id) || m.Name <= last || int64(b.Capacity()) != m.Size || key.CheckKind(b.Kind()) != nil {
				t.Errorf("member %q of key %v after %q", m.Name, id, last)
			}
			last = m.Name
		})
		if err != nil && strings.ContainsAny(err.Error(), "\n\x1b\x00") || n > bounds.Count {
			t.Errorf("%q", err)
		}
	})
}

func FuzzStream(f *testing.F) {
	f.Add(archive(f, good(f, 2)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		Each(bytes.NewReader(data), Bounds{Entry: 1 << 16, Total: 1 << 20, Count: 10}, nothing)
	})
}
