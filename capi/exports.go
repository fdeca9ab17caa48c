// What the front calls for entries, keys and leases.

package main

// #include "core.h"
import "C"

import (
	"context"
	"encoding/json"
	"strings"
	"time"
	"unsafe"

	"jitcache/core"
	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/memory"
	"jitcache/core/store"
)

//export jcgo_start
func jcgo_start(f *C.jc_front) C.int32_t {
	front = f
	observer := C.GoString(f.observer)
	useObserver(observer)
	if at := strings.LastIndexByte(observer, '/'); at > 0 {
		beside := observer[:at+1] + "jitcache-storage"
		core.StorageProgram = func() string { return beside }
	}
	return C.JITCACHE_OK
}

// unpackSettings reads the block that options.c packs.
func unpackSettings(p *C.char, n C.size_t) (options, env map[string]string) {
	fields := strings.Split(string(unsafe.Slice((*byte)(unsafe.Pointer(p)), int(n))), "\x00")
	options, env = map[string]string{}, map[string]string{}
	into := options
	for len(fields) > 1 {
		if fields[0] == "" {
			into, fields = env, fields[1:]
			continue
		}
		into[fields[0]], fields = fields[1], fields[2:]
	}
	return options, env
}

//export jcgo_open
func jcgo_open(p *C.char, n C.size_t, m *C.jc_memory, opened *C.jc_opened, out *C.jc_out) C.int32_t {
	return guard(out, func() C.int32_t {
		options, env := unpackSettings(p, n)
		c, err := core.Open(core.Options{
			Values: options,
			Env:    func(name string) string { return env[name] },
			Sink:   sink,
			Memory: memory.From(unsafe.Pointer(m)),
		})
		if err != nil {
			return fail(out, C.JITCACHE_ERR_OPTION, err)
		}
		opened.core = keepCache(c)
		if c.GoesBeyond() {
			opened.more = 1
		}
		if paths := c.EntryPaths(); len(paths) > 0 {
			opened.entries = C.CString(strings.Join(paths, "\x00") + "\x00")
		}
		if t := c.Memory(); t != nil {
			opened.memory = (*C.jc_memory)(t.Pointer())
			opened.lookups = 1
		}
		return C.JITCACHE_OK
	})
}

//export jcgo_close
func jcgo_close(p unsafe.Pointer) C.int32_t {
	return guard(nil, func() C.int32_t {
		cacheOf(p).Close()
		forgetObject(p)
		return C.JITCACHE_OK
	})
}

//export jcgo_flush
func jcgo_flush(p unsafe.Pointer) C.int32_t {
	return guard(nil, func() C.int32_t {
		cacheOf(p).Flush()
		return C.JITCACHE_OK
	})
}

//export jcgo_leave
func jcgo_leave(p unsafe.Pointer) C.int32_t {
	return guard(nil, func() C.int32_t {
		cacheOf(p).Leave()
		return C.JITCACHE_OK
	})
}

// idOf returns the key's ID and kind, which stand at fixed places of a sealed key, without parsing the rest. Both alias C memory.
func idOf(sealed *C.uint8_t) (*key.ID, []byte) {
	p := unsafe.Pointer(sealed)
	kind := (*[key.MaxKind]byte)(unsafe.Add(p, key.SealedKind))
	n := 0
	for n < len(kind) && kind[n] != 0 {
		n++
	}
	return (*key.ID)(unsafe.Add(p, key.SealedID)), kind[:n]
}

// keyOf parses a sealed key that was checked when it was made.
func keyOf(sealed *C.uint8_t, n C.size_t) *key.Key {
	k, err := key.ParseSealed(bytesOf(sealed, n))
	if err != nil {
		panic(err)
	}
	if !sound && k.Name == "control panic" {
		panic("injected") // a bug for the tests of panics, which only a control build has
	}
	return k
}

func bytesOf(p *C.uint8_t, n C.size_t) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(p)), int(n))
}

func goText(p *C.char) string {
	if p == nil {
		return ""
	}
	return C.GoString(p)
}

func openedOf(file *C.jc_file) core.Opened {
	o := core.Opened{Fd: int(file.fd), Ticket: memory.Ticket(file.ticket)}
	if file.nin > 0 {
		o.In = unsafe.String((*byte)(unsafe.Pointer(file.in)), int(file.nin))
	}
	return o
}

//export jcgo_get
func jcgo_get(p unsafe.Pointer, sealed *C.uint8_t, n C.size_t, file *C.jc_file, out **C.jc_blob, o *C.jc_out) C.int32_t {
	return guard(o, func() C.int32_t {
		id, kind := idOf(sealed)
		b, why := cacheOf(p).Lookup(id, kind, openedOf(file), func() *key.Key { return keyOf(sealed, n) })
		*out = (*C.jc_blob)(b.Pointer())
		return lookedUp(p, o, why)
	})
}

// lookedUp is because for a lookup. It also says for how long the remotes are off.
func lookedUp(p unsafe.Pointer, o *C.jc_out, why store.Reason) C.int32_t {
	if why == store.Absent || why == store.RemoteOff || why == store.RemoteBudget {
		quiet, then := cacheOf(p).Quiet()
		o.quiet_ns, o.quiet_why = C.int64_t(quiet), C.int32_t(then)
	}
	return because(o, C.JITCACHE_MISS, why)
}

//export jcgo_get_into
func jcgo_get_into(p unsafe.Pointer, sealed *C.uint8_t, n C.size_t, file *C.jc_file, buf *C.uint8_t, capacity C.size_t, size *C.size_t, o *C.jc_out) C.int32_t {
	return guard(o, func() C.int32_t {
		id, kind := idOf(sealed)
		got, why := cacheOf(p).LookupInto(id, kind, bytesOf(buf, capacity), openedOf(file), func() *key.Key { return keyOf(sealed, n) })
		*size = C.size_t(got)
		if why == store.None && got > int(capacity) {
			return C.JITCACHE_TOO_SMALL
		}
		return lookedUp(p, o, why)
	})
}

//export jcgo_put
func jcgo_put(p unsafe.Pointer, sealed *C.uint8_t, n C.size_t, data *C.uint8_t, size C.size_t, attributes *C.char, flags C.uint32_t, took C.int64_t, out *C.jc_out) C.int32_t {
	return guard(out, func() C.int32_t {
		attrs := goText(attributes)
		if err := core.CheckAttributes(attrs); err != nil {
			return fail(out, C.JITCACHE_ERR_ATTRIBUTES, err)
		}
		k, replace := keyOf(sealed, n), flags&C.JITCACHE_REPLACE != 0
		if took < 0 {
			return because(out, C.JITCACHE_NOT_STORED, cacheOf(p).Put(k, bytesOf(data, size), attrs, replace))
		}
		why := cacheOf(p).PutCompiled(k, bytesOf(data, size), attrs, replace, time.Duration(took))
		return because(out, C.JITCACHE_NOT_STORED, why)
	})
}

//export jcgo_acquire
func jcgo_acquire(p unsafe.Pointer, sealed *C.uint8_t, n C.size_t, timeoutMs C.int64_t, flags C.int32_t, out **C.jc_blob, lease *unsafe.Pointer, o *C.jc_out) C.int32_t {
	return guard(o, func() C.int32_t {
		b, l, status, why := cacheOf(p).Acquire(keyOf(sealed, n), milliseconds(timeoutMs), flags&C.JC_HOLDING != 0, flags&C.JC_AGAIN == 0)
		if b != nil {
			*out = (*C.jc_blob)(b.Pointer())
		}
		if l != nil {
			*lease = keepLease(l)
		}
		o.reason = C.int32_t(why)
		return C.int32_t(status)
	})
}

//export jcgo_commit
func jcgo_commit(p unsafe.Pointer, data *C.uint8_t, size C.size_t, attributes *C.char, want C.int32_t, out **C.jc_blob, o *C.jc_out) C.int32_t {
	return guard(o, func() C.int32_t {
		l := leaseOf(p)
		defer forgetObject(p)
		attrs := goText(attributes)
		if err := core.CheckAttributes(attrs); err != nil {
			l.Release()
			return fail(o, C.JITCACHE_ERR_ATTRIBUTES, err)
		}
		b, why := l.Commit(bytesOf(data, size), attrs, want != 0)
		if b != nil {
			*out = (*C.jc_blob)(b.Pointer())
		}
		return because(o, C.JITCACHE_NOT_STORED, why)
	})
}

//export jcgo_release
func jcgo_release(p unsafe.Pointer) C.int32_t {
	return guard(nil, func() C.int32_t {
		leaseOf(p).Release()
		forgetObject(p)
		return C.JITCACHE_OK
	})
}

//export jcgo_remove
func jcgo_remove(p unsafe.Pointer, sealed *C.uint8_t, _ C.size_t, out *C.jc_out) C.int32_t {
	return guard(out, func() C.int32_t {
		id, _ := idOf(sealed)
		found, why := cacheOf(p).Remove(id)
		switch {
		case why != store.None:
			return because(out, C.JITCACHE_NOT_STORED, why)
		case !found:
			return because(out, C.JITCACHE_MISS, store.Absent)
		}
		return C.JITCACHE_OK
	})
}

//export jcgo_maintain
func jcgo_maintain(p unsafe.Pointer, id *C.uint8_t, due C.int32_t) C.int32_t {
	return guard(nil, func() C.int32_t {
		cacheOf(p).Maintain((*key.ID)(unsafe.Pointer(id)), memory.Due(due))
		return C.JITCACHE_OK
	})
}

//export jcgo_used
func jcgo_used(p unsafe.Pointer, sealed *C.uint8_t, n C.uint64_t) C.int32_t {
	return guard(nil, func() C.int32_t {
		_, kind := idOf(sealed)
		cacheOf(p).Used(kind, uint64(n))
		return C.JITCACHE_OK
	})
}

//export jcgo_missed
func jcgo_missed(p unsafe.Pointer, kind *C.char, why C.int32_t, n C.uint64_t) C.int32_t {
	return guard(nil, func() C.int32_t {
		cacheOf(p).Missed([]byte(goText(kind)), store.Reason(why), uint64(n))
		return C.JITCACHE_OK
	})
}

//export jcgo_trim
func jcgo_trim(p unsafe.Pointer, out *C.jc_out) C.int32_t {
	return guard(out, func() C.int32_t {
		_, err := cacheOf(p).Trim(context.Background(), nil)
		return statusOf(out, err)
	})
}

//export jcgo_clear
func jcgo_clear(p unsafe.Pointer, kind *C.char, out *C.jc_out) C.int32_t {
	return guard(out, func() C.int32_t {
		_, err := cacheOf(p).Clear(context.Background(), goText(kind), nil)
		return statusOf(out, err)
	})
}

func statusOf(out *C.jc_out, err error) C.int32_t {
	if err != nil {
		return fail(out, C.JITCACHE_ERR_MAINTENANCE, err)
	}
	return C.JITCACHE_OK
}

//export jcgo_verify
func jcgo_verify(p unsafe.Pointer, report **C.jc_blob, out *C.jc_out) C.int32_t {
	return guard(out, func() C.int32_t {
		r, err := cacheOf(p).Verify(context.Background(), false, nil)
		if err != nil {
			return statusOf(out, err)
		}
		return asJSON(core.NewReport(r), report, out)
	})
}

//export jcgo_count
func jcgo_count(p unsafe.Pointer, entries *C.uint64_t, out *C.jc_out) C.int32_t {
	return guard(out, func() C.int32_t {
		n, err := cacheOf(p).Len()
		*entries = C.uint64_t(n)
		return statusOf(out, err)
	})
}

//export jcgo_keys
func jcgo_keys(p unsafe.Pointer, part C.int32_t, keys **C.jc_blob, out *C.jc_out) C.int32_t {
	return guard(out, func() C.int32_t {
		ids, ok := cacheOf(p).Keys(int(part))
		if !ok {
			return C.JITCACHE_MISS
		}
		data := make([]byte, 0, len(ids)*len(key.ID{}))
		for i := range ids {
			data = append(data, ids[i][:]...)
		}
		return asBlob(data, keys, out)
	})
}

//export jcgo_describe
func jcgo_describe(p unsafe.Pointer, id *C.uint8_t, kind *C.char, report **C.jc_blob, out *C.jc_out) C.int32_t {
	return guard(out, func() C.int32_t {
		listed, ok := cacheOf(p).Describe((*key.ID)(unsafe.Pointer(id)), goText(kind))
		if !ok {
			return C.JITCACHE_MISS
		}
		return asJSON(&listed, report, out)
	})
}

//export jcgo_stats
func jcgo_stats(p unsafe.Pointer, report **C.jc_blob, out *C.jc_out) C.int32_t {
	return guard(out, func() C.int32_t { return asJSON(cacheOf(p).Stats(), report, out) })
}

//export jcgo_explain
func jcgo_explain(p unsafe.Pointer, sealed *C.uint8_t, n C.size_t, report **C.jc_blob, out *C.jc_out) C.int32_t {
	return guard(out, func() C.int32_t { return asJSON(cacheOf(p).Explain(keyOf(sealed, n)), report, out) })
}

func asJSON(v any, report **C.jc_blob, out *C.jc_out) C.int32_t {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return asBlob(data, report, out)
}

func asBlob(data []byte, made **C.jc_blob, out *C.jc_out) C.int32_t {
	b, err := blob.New(len(data))
	if err != nil {
		return fail(out, C.JITCACHE_ERR_MEMORY, err)
	}
	copy(b.Buffer(), data)
	b.SetSize(len(data))
	*made = (*C.jc_blob)(b.Pointer())
	return C.JITCACHE_OK
}

//export jcgo_pin
func jcgo_pin(p unsafe.Pointer, b *C.jc_blob, tempdir *C.char, pin *C.jc_pin, out *C.jc_out) C.int32_t {
	return guard(out, func() C.int32_t {
		var s *store.Store
		if p != nil {
			s, _ = cacheOf(p).Store()
		}
		made, err := store.NewPin(s, goText(tempdir), blob.From(unsafe.Pointer(b)))
		if err != nil {
			return fail(out, C.JITCACHE_ERR_PATH, err)
		}
		pin.path = C.CString(made.Path)
		pin.fd = C.int32_t(made.Fd)
		return C.JITCACHE_OK
	})
}

//export jcgo_key_input
func jcgo_key_input(tag C.int32_t, path *C.char, value **C.uint8_t, nvalue *C.size_t, input **C.uint8_t, ninput *C.size_t, out *C.jc_out) C.int32_t {
	return guard(out, func() C.int32_t {
		v, in, err := key.ReadInput(key.Tag(tag), goText(path))
		if err != nil {
			return fail(out, C.JITCACHE_ERR_INPUT, err)
		}
		*value, *nvalue = toC(v)
		*input, *ninput = toC(key.AppendInput(nil, in))
		return C.JITCACHE_OK
	})
}

//export jcgo_key_digest
func jcgo_key_digest(data *C.uint8_t, size C.size_t, digest *C.uint8_t) C.int32_t {
	return guard(nil, func() C.int32_t {
		d := key.Sum(bytesOf(data, size))
		copy(bytesOf(digest, C.size_t(len(d))), d[:])
		return C.JITCACHE_OK
	})
}

func toC(b []byte) (*C.uint8_t, C.size_t) { return (*C.uint8_t)(C.CBytes(b)), C.size_t(len(b)) }

//export jcgo_key_seal
func jcgo_key_seal(packed *C.uint8_t, npacked C.size_t, inputs *C.uint8_t, ninputs C.size_t, name, kind *C.char, sealed **C.uint8_t, nsealed *C.size_t, out *C.jc_out) C.int32_t {
	return guard(out, func() C.int32_t {
		k, err := seal(bytesOf(packed, npacked), bytesOf(inputs, ninputs), goText(name), goText(kind))
		if err != nil {
			return fail(out, C.JITCACHE_ERR_KEY, err)
		}
		*sealed, *nsealed = toC(k.Append(nil))
		return C.JITCACHE_OK
	})
}

func seal(packed, inputs []byte, name, kind string) (*key.Key, error) {
	b := key.NewBuilder()
	if err := b.AddPacked(packed); err != nil {
		return nil, err
	}
	ins, err := key.ParseInputs(inputs)
	if err != nil {
		return nil, err
	}
	for _, in := range ins {
		b.AddInput(in)
	}
	b.SetName(name)
	b.SetKind(kind)
	return b.Seal()
}

//export jcgo_key_check
func jcgo_key_check(sealed *C.uint8_t, n C.size_t, out *C.jc_out) C.int32_t {
	return guard(out, func() C.int32_t {
		if _, err := key.ParseSealed(bytesOf(sealed, n)); err != nil {
			return fail(out, C.JITCACHE_ERR_KEY, err)
		}
		return C.JITCACHE_OK
	})
}
