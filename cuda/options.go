// What the options of NVRTC mean for a result: its architecture, and whether it shows the folder
// that it was made in.

package cuda

import (
	"strings"

	"jitcache/cuda/nvrtc"
)

// Options pass to NVRTC as they are. Two things are read off them: whether they name an
// architecture, and whether the result may show the folder that it was made in.

// archOf returns the architecture that options name, "" if none does. The last one counts,
// as for NVRTC.
func archOf(options []string) (arch string) {
	for i, o := range options {
		name, value, assigned := strings.Cut(strings.Trim(o, " "), "=")
		if name != "-arch" && name != "--gpu-architecture" {
			continue
		}
		if !assigned && i+1 < len(options) {
			value = options[i+1]
		}
		arch = strings.Trim(value, " ")
	}
	return arch
}

// plain are the options with which a cubin or PTX does not depend on the folder that it was
// made in. Each was tried in two folders, with NVRTC 12.9 and 13.5, and gave the same bytes
// (TestFolderIsNotInTheResult). With any other option the folder counts, as it always does
// for LTO-IR. The value of an option of one letter may follow without a space.
var plain = map[string]bool{
	"-arch": true, "--gpu-architecture": true, "-std": true, "--std": true,
	"-D": true, "--define-macro": true, "-U": true, "--undefine-macro": true,
	"-I": true, "--include-path": true, "-include": true, "--pre-include": true,
	"-dc": true, "--device-c": true, "-dw": true, "--device-w": true,
	"-rdc": true, "--relocatable-device-code": true, "-ewp": true, "--extensible-whole-program": true,
	"-ftz": true, "--ftz": true, "-prec-sqrt": true, "--prec-sqrt": true, "-prec-div": true, "--prec-div": true,
	"-fmad": true, "--fmad": true, "-use_fast_math": true, "--use_fast_math": true,
	"-maxrregcount": true, "--maxrregcount": true, "-extra-device-vectorization": true, "--extra-device-vectorization": true,
	"-restrict": true, "--restrict": true, "-default-device": true, "--device-as-default-execution-space": true,
	"-device-int128": true, "--device-int128": true, "-minimal": true, "--minimal": true,
	"-w": true, "--disable-warnings": true, "-Wreorder": true, "--Wreorder": true, "-Werror": true, "--warning-as-error": true,
	"-diag-suppress": true, "--diag-suppress": true, "-diag-error": true, "--diag-error": true, "-diag-warn": true, "--diag-warn": true,
	"-err-no": true, "--display-error-number": true, "-no-err-no": true, "--no-display-error-number": true,
	"-brief-diag": true, "--brief-diagnostics": true, "-no-source-include": true, "--no-source-include": true,
	"-builtin-move-forward": true, "--builtin-move-forward": true,
	"-builtin-initializer-list": true, "--builtin-initializer-list": true,
	"-no-cache": true, "--no-cache": true, "-split-compile": true, "--split-compile": true,
}

// joined are the letters of the plain options whose value may follow without a space.
const joined = "DUI"

// precompiles reports whether NVRTC is to precompile the headers by itself. Then it removes
// what it leaves in a folder when its process ends. What --create-pch leaves is meant to stay.
func precompiles(options []string) bool {
	found := false
	for _, o := range options {
		switch name, _, _ := strings.Cut(strings.Trim(o, " "), "="); name {
		case "-pch", "--pch":
			found = true
		case "-create-pch", "--create-pch", "-use-pch", "--use-pch":
			return false
		}
	}
	return found
}

// showsFolder reports whether a result may show the folder that it was made in.
func showsFolder(target nvrtc.Target, options, env []string) bool {
	if target == nvrtc.LTOIR {
		return true
	}
	for _, e := range env {
		if strings.HasPrefix(e, "NVRTC_") { // NVRTC_APPEND_FLAGS has more options
			return true
		}
	}
	for _, o := range options {
		o = strings.Trim(o, " ")
		name, _, _ := strings.Cut(o, "=")
		switch {
		case plain[name]:
		case len(o) > 2 && o[0] == '-' && strings.IndexByte(joined, o[1]) >= 0:
		case o != "" && o[0] != '-' && o[0] != '@': // the value of the option before
		default:
			return true
		}
	}
	return false
}
