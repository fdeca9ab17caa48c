// What is packed is what is added, byte for byte, and only if somebody who is trusted has signed
// it.

package bundle

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"jitcache/core"
	"jitcache/core/key"
	"jitcache/core/store"
	"jitcache/core/trust"
	"jitcache/record"
)

type env map[string]string

func (e env) get(name string) string { return e[name] }

func open(t testing.TB, dir string, more env) *core.Cache {
	t.Helper()
	values := env{"HOME": t.TempDir()}
	for name, v := range more {
		values[name] = v
	}
	c, err := core.Open(core.Options{Values: map[string]string{"directory": dir, "memory_size": "0"}, Env: values.get})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func testKey(t testing.TB, n int) *key.Key {
	t.Helper()
	b := key.NewBuilder()
	b.Add("n", fmt.Append(nil, n))
	b.SetName(fmt.Sprintf("entry %d", n))
	b.SetKind([]string{"cubin", "native"}[n%2])
	k, err := b.Seal()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func secret(t testing.TB) trust.Secret {
	t.Helper()
	s, err := trust.NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// warmed returns a cache of n entries, signed by some.
func warmed(t testing.TB, n int, signers ...trust.Secret) *core.Cache {
	t.Helper()
	c := open(t, filepath.Join(t.TempDir(), "warmed"), nil)
	for i := range n {
		if why := c.Put(testKey(t, i), payload(i), `{"from":"CI"}`, false); why != store.None {
			t.Fatal(why)
		}
	}
	for _, s := range signers {
		if _, err := c.Sign(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func payload(n int) []byte { return bytes.Repeat(fmt.Append(nil, "payload ", n, " "), 100) }

func packed(t testing.TB, c *core.Cache, wanted ...string) []byte {
	t.Helper()
	ids, err := Choose(t.Context(), c, Wanted{Words: wanted})
	if err != nil {
		t.Fatal(err)
	}
	var to bytes.Buffer
	if _, err := Write(&to, c, ids, nil); err != nil {
		t.Fatal(err)
	}
	return to.Bytes()
}

// files returns the files of entries below a directory, by their paths in it.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	paths, _ := filepath.Glob(dir + "/v1/entries/*/*")
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		found[strings.TrimPrefix(p, dir+"/v1/")] = string(data)
	}
	return found
}

func root(t testing.TB, c *core.Cache) string {
	t.Helper()
	s, err := c.Store()
	if err != nil {
		t.Fatal(err)
	}
	return s.Root()
}

func same(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for name, data := range a {
		if b[name] != data {
			return false
		}
	}
	return true
}

func TestWhatIsAddedIsWhatWasPackedByteForByteWithItsSignatures(t *testing.T) {
	by := secret(t)
	c := warmed(t, 20, by)
	own := open(t, t.TempDir()+"/own", env{"JITCACHE_KEYS": by.Public().String()})
	sum, err := Add(own, bytes.NewReader(packed(t, c)), AddOptions{Bounds: Usual})
	if err != nil || sum.New != 20 || sum.Before+sum.In+sum.Unsigned != 0 {
		t.Fatalf("%+v, %v", sum, err)
	}
	if !same(files(t, root(t, c)), files(t, root(t, own))) {
		t.Error("the files are others")
	}
	sum, err = Add(own, bytes.NewReader(packed(t, c)), AddOptions{Bounds: Usual})
	if err != nil || sum.Before != 20 || sum.New != 0 {
		t.Errorf("again %+v, %v", sum, err)
	}
	b, why := own.Get(&testKey(t, 3).ID, nil, nil)
	if why != store.None || !bytes.Equal(b.Data(), payload(3)) || b.Attributes() != `{"from":"CI"}` {
		t.Error(why)
	}
}

func TestBundleOfTheSameEntriesHasTheSameBytes(t *testing.T) {
	c := warmed(t, 5)
	if !bytes.Equal(packed(t, c), packed(t, c)) {
		t.Error("they differ")
	}
}

func TestBundleIsAnArchiveForTarAndZstd(t *testing.T) {
	c := warmed(t, 5)
	z, err := zstd.NewReader(bytes.NewReader(packed(t, c)))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	all, found := tar.NewReader(z), map[string]string{}
	for {
		h, err := all.Next()
		if err == io.EOF {
			break
		}
		if err != nil || h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Mode != 0o644 {
			t.Fatalf("%+v, %v", h, err)
		}
		data, _ := io.ReadAll(all)
		found[h.Name] = string(data)
	}
	if !same(found, files(t, root(t, c))) {
		t.Error("the archive has other files")
	}
}

//jitcache:control takesany
func TestOnlyWhatIsSignedByWhoIsTrustedIsAddedUnlessTheUserConsents(t *testing.T) {
	ci, stranger := secret(t), secret(t)
	trusts, withdraws := env{"JITCACHE_KEYS": ci.Public().String()}, env{"JITCACHE_KEYS": "withdrawn " + ci.Public().String()}
	for _, row := range []struct {
		name     string
		signers  []trust.Secret
		env      env
		unsigned bool
		added    int
		who      core.Signing
	}{
		{"trusted", []trust.Secret{ci}, trusts, false, 4, ""},
		{"unsigned", nil, trusts, false, 0, core.Unsigned},
		{"unsigned, with consent", nil, trusts, true, 4, ""},
		{"of a stranger", []trust.Secret{stranger}, trusts, false, 0, core.SignedByStranger},
		{"of a stranger, with consent", []trust.Secret{stranger}, trusts, true, 4, ""},
		{"of nobody's friend", []trust.Secret{ci}, env{}, false, 0, core.SignedByStranger},
		{"withdrawn", []trust.Secret{ci}, withdraws, false, 0, core.SignedByWithdrawn},
		{"withdrawn, with consent", []trust.Secret{ci}, withdraws, true, 0, core.SignedByWithdrawn},
		{"for another namespace", []trust.Secret{ci}, env{"JITCACHE_KEYS": ci.Public().String(), "JITCACHE_NAMESPACE": "n"}, false, 0, core.SignedFalsely},
	} {
		t.Run(row.name, func(t *testing.T) {
			own := open(t, t.TempDir()+"/own", row.env)
			sum, err := Add(own, bytes.NewReader(packed(t, warmed(t, 4, row.signers...))), AddOptions{Bounds: Usual, Unsigned: row.unsigned})
			if err != nil || sum.New != row.added || sum.Unsigned != 4-row.added {
				t.Errorf("%+v, %v", sum, err)
			}
			if row.who != "" && !strings.Contains(fmt.Sprint(sum.Who), string(row.who)) {
				t.Errorf("it says %v", sum.Who)
			}
			if n := len(files(t, root(t, own))); n != row.added {
				t.Errorf("%d files", n)
			}
		})
	}
}

func TestOneOfTwoSignaturesIsEnoughAndBothAreKept(t *testing.T) {
	ci, other := secret(t), secret(t)
	c := warmed(t, 1, ci)
	s, _ := c.Store()
	b, why := s.Get(&testKey(t, 0).ID)
	if why != store.None {
		t.Fatal(why)
	}
	st, _, _ := core.Statement(b)
	sig := other.Sign(st, "")
	if why := s.AddSignature(b, sig.Append(nil)); why != store.None {
		t.Fatal(why)
	}
	for _, keys := range []string{ci.Public().String(), other.Public().String() + ",withdrawn " + ci.Public().String()} {
		own := open(t, t.TempDir()+"/own", env{"JITCACHE_KEYS": keys})
		sum, err := Add(own, bytes.NewReader(packed(t, c)), AddOptions{Bounds: Usual})
		if err != nil || sum.New != 1 || !same(files(t, root(t, c)), files(t, root(t, own))) {
			t.Errorf("%s: %+v, %v", keys, sum, err)
		}
	}
}

func TestAddReplacesWhatRestsOnAWithdrawnKey(t *testing.T) {
	old, ci := secret(t), secret(t)
	dir := t.TempDir() + "/own"
	if _, err := Add(open(t, dir, env{"JITCACHE_KEYS": old.Public().String()}), bytes.NewReader(packed(t, warmed(t, 3, old))), AddOptions{Bounds: Usual}); err != nil {
		t.Fatal(err)
	}
	own := open(t, dir, env{"JITCACHE_KEYS": ci.Public().String() + ",withdrawn " + old.Public().String()})
	sum, err := Add(own, bytes.NewReader(packed(t, warmed(t, 3, ci))), AddOptions{Bounds: Usual})
	if err != nil || sum.New != 3 {
		t.Fatalf("%+v, %v", sum, err)
	}
	if _, why := own.Get(&testKey(t, 1).ID, nil, nil); why != store.None {
		t.Error(why)
	}
}

func TestCreateLeavesNothingHalf(t *testing.T) {
	c := warmed(t, 3)
	ids, _ := Choose(t.Context(), c, Wanted{})
	for name, create := range map[string]func(*core.Cache, []key.ID, string, Progress) (Packed, error){
		"file": Create, "layer": CreateLayer, "image": CreateImage,
	} {
		dir := t.TempDir()
		if p, err := create(c, ids, dir+"/it", nil); err != nil || p.Entries != 3 || p.Left != 0 {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
		if p, err := create(c, ids, dir+"/no/folder/it", nil); err == nil {
			t.Errorf("%s: %+v", name, p)
		}
		if left, _ := filepath.Glob(dir + "/*"); len(left) != 1 || left[0] != dir+"/it" {
			t.Errorf("%s: %v", name, left)
		}
		if name != "file" {
			if _, err := create(c, ids, dir+"/it", nil); err == nil {
				t.Errorf("%s: it was made over another", name)
			}
		}
	}
}

// Root may name /dev/stdout or /dev/null, as with tar. A file must not take the place of the device.
//
//jitcache:control overdevices
func TestBundleIsNotMadeInPlaceOfADevice(t *testing.T) {
	c := warmed(t, 3)
	ids, _ := Choose(t.Context(), c, Wanted{})
	pipe, link := t.TempDir()+"/pipe", t.TempDir()+"/link"
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/null", link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, link} {
		before, _ := os.Lstat(path)
		for name, create := range map[string]func(*core.Cache, []key.ID, string, Progress) (Packed, error){
			"file": Create, "layer": CreateLayer, "image": CreateImage,
		} {
			if _, err := create(c, ids, path, nil); err == nil || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s at %s: %v", name, path, err)
			}
			if after, err := os.Lstat(path); err != nil || !os.SameFile(before, after) {
				t.Errorf("%s at %s: something else is there: %v", name, path, err)
			}
		}
		if left, _ := filepath.Glob(filepath.Dir(path) + "/*"); len(left) != 1 {
			t.Errorf("%v", left)
		}
	}
}

func TestLayerOfABundleIsUsedAsItIs(t *testing.T) {
	c := warmed(t, 3)
	ids, _ := Choose(t.Context(), c, Wanted{Words: []string{"native", "entry 2"}})
	if len(ids) != 2 {
		t.Fatal(ids)
	}
	dir := t.TempDir() + "/layer"
	if _, err := CreateLayer(c, ids, dir, nil); err != nil {
		t.Fatal(err)
	}
	own := open(t, t.TempDir()+"/own", env{"JITCACHE_LAYERS": dir})
	for n, want := range []store.Reason{store.Absent, store.None, store.None} {
		if _, why := own.Get(&testKey(t, n).ID, nil, nil); why != want {
			t.Errorf("%d: %v", n, why)
		}
	}
}

func TestChoiceThatMeansNothingIsNamed(t *testing.T) {
	c := warmed(t, 3)
	for _, w := range []string{"nosuch", "[", "0000000000000000"} {
		if ids, err := Choose(t.Context(), c, Wanted{Words: []string{"cubin", w}}); err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("%q: %v, %v", w, ids, err)
		}
	}
	k := testKey(t, 1).ID.String()
	if ids, err := Choose(t.Context(), c, Wanted{Words: []string{strings.ToUpper(k[:12]), "entry [0]"}}); err != nil || len(ids) != 2 {
		t.Error(ids, err)
	}
}

// lists returns the bytes of a note: a set of lists of the files a and b, each for one
// result.
func lists(t testing.TB, files map[string]key.ID) []byte {
	t.Helper()
	set := &record.Set{}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		id := files[path]
		if !set.Add(&record.List{Files: []record.File{{Path: path, Digest: key.Digest{1}}}, Payload: id[:]}) {
			t.Fatal("too large")
		}
	}
	return set.Append(nil)
}

func noteKey(t testing.TB, what string) *key.Key {
	t.Helper()
	b := key.NewBuilder()
	b.Add("what", []byte(what))
	b.SetKind(key.NoteKind)
	k, err := b.Seal()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestListsGoWithTheirResultsAndCompleteThoseThatAreThere(t *testing.T) {
	by, note := secret(t), noteKey(t, "request")
	c := warmed(t, 4)
	c.SaveNote(note, lists(t, map[string]key.ID{"/a": testKey(t, 0).ID, "/b": testKey(t, 1).ID}))
	c.SaveNote(noteKey(t, "of this machine"), []byte("its inodes"))
	if _, err := c.Sign(t.Context(), by); err != nil {
		t.Fatal(err)
	}
	for wanted, want := range map[string]int{"": 5, "entry 0": 3, "entry 2": 1, "native": 4, key.NoteKind: 3} {
		words := []string{wanted}
		if wanted == "" {
			words = nil
		}
		if ids, err := Choose(t.Context(), c, Wanted{Words: words}); err != nil || len(ids) != want {
			t.Errorf("%q: %d entries, want %d; %v", wanted, len(ids), want, err)
		}
	}
	dir := t.TempDir() + "/own"
	own := open(t, dir, env{"JITCACHE_KEYS": by.Public().String()})
	own.SaveNote(note, lists(t, map[string]key.ID{"/a": testKey(t, 0).ID, "/own": {9}}))
	for i, want := range []int{1, 0} {
		sum, err := Add(own, bytes.NewReader(packed(t, c)), AddOptions{Bounds: Usual})
		if err != nil || sum.In != want || sum.New+sum.Before != 5-want || sum.Unsigned != 0 {
			t.Errorf("%d: %+v, %v", i, sum, err)
		}
	}
	set, err := record.ParseSet(own.LoadNote(&note.ID))
	if err != nil || set.Len() != 3 {
		t.Fatalf("%v, %v", set, err)
	}
	// Entries that another key vouches for are not signed again, and end with that key.
	if done, err := own.Sign(t.Context(), secret(t)); err != nil || done.Signed != 0 || done.Others != 5 {
		t.Errorf("%+v, %v", done, err)
	}
	if data := open(t, dir, env{"JITCACHE_KEYS": "withdrawn " + by.Public().String()}).LoadNote(&note.ID); data != nil {
		t.Errorf("still %d bytes", len(data))
	}
}

// part gives its bytes slowly, and calls a function in between.
type part struct {
	data []byte
	then func()
}

func (p *part) Read(b []byte) (int, error) {
	if len(p.data) == 0 {
		if p.then != nil {
			p.then()
			p.then = nil
		}
		return 0, io.EOF
	}
	n := copy(b, p.data)
	p.data = p.data[n:]
	return n, nil
}

func TestAddThatWasInterruptedGoesOnWhereItWas(t *testing.T) {
	by := secret(t)
	data := packed(t, warmed(t, 200, by))
	own := open(t, t.TempDir()+"/own", env{"JITCACHE_KEYS": by.Public().String()})
	sum, err := Add(own, io.MultiReader(&part{data: data[:len(data)/2]}, &part{}), AddOptions{Bounds: Usual})
	if err == nil || sum.New == 0 || sum.New >= 200 {
		t.Fatalf("%+v, %v", sum, err)
	}
	before := inodes(t, root(t, own))
	again, err := Add(own, bytes.NewReader(data), AddOptions{Bounds: Usual})
	if err != nil || again.Before != sum.New || again.New != 200-sum.New {
		t.Errorf("%+v after %+v, %v", again, sum, err)
	}
	for name, info := range inodes(t, root(t, own)) {
		if old := before[name]; old != nil && !os.SameFile(old, info) {
			t.Errorf("%s was written again", name)
		}
	}
}

func inodes(t testing.TB, dir string) map[string]os.FileInfo {
	t.Helper()
	found := map[string]os.FileInfo{}
	for name := range files(t, dir) {
		info, err := os.Stat(dir + "/v1/" + name)
		if err != nil {
			t.Fatal(err)
		}
		found[name] = info
	}
	return found
}

func TestBundleThatWasCutOffAnywhereIsAnError(t *testing.T) {
	data := packed(t, warmed(t, 3))
	for n := range data {
		if err := Each(bytes.NewReader(data[:n]), Usual, nothing); err == nil {
			t.Errorf("of %d bytes %d are a bundle", len(data), n)
		}
	}
	plain := decompressed(t, data)
	for n := 0; n < len(plain)-512; n += 512 { // a complete frame with a part of the archive
		if err := Each(bytes.NewReader(compressed(t, plain[:n])), Usual, nothing); err == nil {
			t.Errorf("%d of %d bytes are a bundle", n, len(plain))
		}
	}
	if err := Each(bytes.NewReader(data), Usual, nothing); err != nil {
		t.Error(err)
	}
}

func TestErrorsThatAreNotOfABundleArePassedOn(t *testing.T) {
	own := open(t, t.TempDir()+"/own", env{"JITCACHE": "readonly"})
	if _, err := Add(own, bytes.NewReader(packed(t, warmed(t, 1))), AddOptions{Bounds: Usual}); err == nil {
		t.Error("a directory that is read only was written")
	}
	var r *Refused
	if err := Each(strings.NewReader("no bundle"), Usual, nothing); !errors.As(err, &r) || !strings.Contains(err.Error(), "not a bundle") {
		t.Error(err)
	}
	if err := Each(strings.NewReader(""), Usual, nothing); err == nil {
		t.Error("an empty file is a bundle")
	}
}

func TestHeaderHasRoomForAnyTime(t *testing.T) {
	for _, made := range []int64{-1 << 62, -1, 0, 1, 1<<63 - 1} {
		var to bytes.Buffer
		w := tar.NewWriter(&to)
		if err := w.WriteHeader(header("entries/", 0, made)); err != nil {
			t.Errorf("%v: %v", time.Unix(0, made), err)
		}
	}
}
