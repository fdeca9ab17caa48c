// The names of the libraries, and the folders in which they may be.

package dl

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Wanted is a library to look for.
type Wanted int

const (
	NVRTC Wanted = iota // libnvrtc, the compiler
	CUDA                // libcuda, the driver
)

// String returns the library's name.
func (w Wanted) String() string {
	if w == NVRTC {
		return "libnvrtc"
	}
	return "libcuda"
}

// names are the names of the files, best first. CUDA 11.2 to 11.8 all have
// libnvrtc.so.11.2. Some names are of versions that do not exist yet. The second build in
// CUDA 12.9, libnvrtc.alt.so, makes other code, and is used only if a caller names it.
var names = [...][]string{
	NVRTC: {
		"libnvrtc.so.16", "libnvrtc.so.15", "libnvrtc.so.14", "libnvrtc.so.13", "libnvrtc.so.12",
		"libnvrtc.so.11.2", "libnvrtc.so.11.1", "libnvrtc.so.11.0", "libnvrtc.so",
	},
	CUDA: {"libcuda.so.1", "libcuda.so"},
}

// matches reports whether a file name is that of the library, in any version. Repaired
// wheels have libnvrtc-<hash>.so.12.
func (w Wanted) matches(name string) bool {
	rest, ok := strings.CutPrefix(name, w.String())
	if hash, after, found := strings.Cut(rest, "."); ok && w == NVRTC && found && len(hash) > 1 && hash[0] == '-' {
		if _, err := strconv.ParseUint(hash[1:], 16, 64); err == nil {
			rest = "." + after
		}
	}
	return ok && (rest == ".so" || strings.HasPrefix(rest, ".so."))
}

// Locations are places to look in, beside those that the process and the loader know. The
// caller reads them from options and the environment.
type Locations struct {
	// Explicit is a path that must be the library (JITCACHE_NVRTC,
	// JITCACHE_LIBCUDA), "" if there is none.
	Explicit string
	// Wheels are folders for Python packages, in the order of sys.path.
	Wheels []string
	// Homes are folders of toolkits (CUDA_HOME, CUDA_PATH, a conda prefix).
	Homes []string
}

func (p Locations) equal(q Locations) bool {
	return p.Explicit == q.Explicit && slices.Equal(p.Wheels, q.Wheels) && slices.Equal(p.Homes, q.Homes)
}

// targets is the toolkit's folder for libraries, by GOARCH.
var targets = map[string]string{"amd64": "targets/x86_64-linux/lib", "arm64": "targets/sbsa-linux/lib"}

// groups returns the folders to look in, the best group first. Within a group a better name
// wins over a better folder, as for a caller that asks the loader for one name after the
// other.
func (p Locations) groups(w Wanted) [][]string {
	var groups [][]string
	if w == CUDA { // the driver comes with the kernel's module, never with a toolkit
		return append(groups, loaderFolders(), []string{loaderCache}, []string{"/usr/lib/wsl/lib"})
	}
	for _, site := range p.Wheels {
		for _, folder := range wheelFolders(site) {
			groups = append(groups, []string{folder})
		}
	}
	for _, home := range p.Homes {
		for _, sub := range []string{"lib64", "lib", targets[runtime.GOARCH]} {
			groups = append(groups, []string{filepath.Join(home, sub)})
		}
	}
	return append(groups, loaderFolders(), []string{loaderCache})
}

// wheelFolders returns the folders where NVIDIA's wheels put libnvrtc: nvidia/cu13/lib
// since CUDA 13, the newest first, then nvidia/cuda_nvrtc/lib of older ones.
func wheelFolders(site string) []string {
	var versions []int
	entries, _ := os.ReadDir(filepath.Join(site, "nvidia"))
	for _, e := range entries {
		if digits, ok := strings.CutPrefix(e.Name(), "cu"); ok {
			if v, err := strconv.Atoi(digits); err == nil {
				versions = append(versions, v)
			}
		}
	}
	slices.Sort(versions)
	var folders []string
	for _, v := range slices.Backward(versions) {
		folders = append(folders, filepath.Join(site, "nvidia", "cu"+strconv.Itoa(v), "lib"))
	}
	return append(folders, filepath.Join(site, "nvidia", "cuda_nvrtc", "lib"))
}

// machines are the values of e_machine in an ELF header, by GOARCH.
var machines = map[string]uint16{"amd64": 62, "arm64": 183}

// loadable reports whether a file is a 64-bit ELF file for this machine. The loader too
// skips others, such as 32-bit libraries and linker scripts.
func loadable(path string) bool {
	// O_NONBLOCK: opening a FIFO must not wait for a writer.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	var h [20]byte
	if _, err := f.ReadAt(h[:], 0); err != nil || string(h[:6]) != "\x7fELF\x02\x01" {
		return false
	}
	return binary.LittleEndian.Uint16(h[18:]) == machines[runtime.GOARCH]
}
