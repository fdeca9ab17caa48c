// Which environment variables count, and which a command is not given.

package record

import (
	"slices"
	"sort"
	"strings"

	"jitcache/core/key"
	"jitcache/core/wildcard"
)

// documented are the variables that known programs obey, by their manuals: gcc(1),
// cpp(1), ld(1), as(1), clang(1), ld.lld(1), mold(1), ld.so(8), locale(7),
// mpicc(1) of Open MPI; and that they ask for (asked_test.go). A name that ends in * is a prefix.
var documented = []string{
	// The C library and its loader.
	"LD_*", "_STDBUF_*", "GLIBC_TUNABLES", "GCONV_PATH", "LOCPATH", "NLSPATH", "LANG", "LANGUAGE", "LC_*", "MALLOC_*",
	// Where programs are, and the compilers of GNU.
	"PATH", "COMPILER_PATH", "LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "OBJC_INCLUDE_PATH",
	"OBJCPLUS_INCLUDE_PATH", "FINCLUDE_PATH", "GCC_*", "COLLECT_*", "DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES",
	"SOURCE_DATE_EPOCH", "GNUTARGET", "LDEMULATION", "SYSROOT", "AS_*", "AR_*", "LPATH", "BINUTILS_ROOT", "LIBCTF_DEBUG",
	"DEB_BUILD_OPTIONS", // Debian's gcc
	// LLVM's, and other linkers.
	"CCC_*", "CLANG_*", "LLVM_*", "LLD_*", "MOLD_*", "SDKROOT", "SYSTEMROOT", "XDG_CONFIG_HOME", "CC_LOG_DIAGNOSTICS*", "CC_PRINT_*",
	"FORCE_CLANG_*", "RC_DEBUG_OPTIONS",
	// Generators of code (generators_test.go).
	"M4", "M4PATH", "POSIXLY_CORRECT", "FLEX_*", "BISON_*", "SWIG_*", "GPB_*",
	// Of systems that clang compiles for: Apple's, Microsoft's, AMD's, Sony's.
	"*_DEPLOYMENT_TARGET", "INCLUDE", "EXTERNAL_INCLUDE", "LIB", "CL", "_CL_", "LINK", "_LINK_", "VCINSTALLDIR", "VCTools*", "HIP_*",
	"ROCM_*", "SCE_*",
	// Caches and distributors that stand before a compiler.
	"CCACHE_*", "DISTCC_*", "SCCACHE_*",
	// Wrappers of MPI libraries.
	"OMPI_*", "OPAL_*", "PMPI_*", "MPICH_*", "I_MPI_*",
}

// withheld are variables that say which terminal, session, job, rank or pod a
// process belongs to. They differ each time, and no compiler needs them: a command
// that may obey anything is not given them, and they do not count. (A list
// of texts would take 4 KB more in the library.)
const withheld = "" +
	"SHLVL OLDPWD PWD _ TERM COLORTERM TERM_* COLUMNS LINES WINDOWID DISPLAY WAYLAND_DISPLAY " +
	"SSH_* TMUX TMUX_* STY XDG_SESSION_* XDG_RUNTIME_DIR XDG_VTNR XDG_SEAT DBUS_* HOSTNAME HOST " +
	"GNOME_TERMINAL_* KONSOLE_* KITTY_* WEZTERM_* VSCODE_* JPY_* GPG_TTY SESSION_MANAGER PYTEST_CURRENT_TEST " +
	"MAKEFLAGS MFLAGS MAKELEVEL GNUMAKEFLAGS CARGO_MAKEFLAGS NINJA_STATUS " +
	"INVOCATION_ID JOURNAL_STREAM SYSTEMD_EXEC_PID MANAGERPID LISTEN_* NOTIFY_SOCKET WATCHDOG_* " +
	"JITCACHE* UW_JIT_CACHE UW_JIT_CACHE_DIR " + // where results are kept, and whether
	// Schedulers and launchers.
	"SLURM_* SLURMD_* SBATCH_* SRUN_* PMI_* PMI2_* PMIX_* PALS_* FLUX_* PBS_* LSB_* LSF_* " +
	"SGE_* JOB_ID COBALT_* ALPS_* HYDRA_* HYDI_* MPI_LOCALRANKID MPI_LOCALNRANKS MPIRUN_* " +
	"OMPI_COMM_WORLD_* OMPI_UNIVERSE_SIZE OMPI_FILE_LOCATION OMPI_APP_* OMPI_FIRST_RANKS OMPI_COMMAND " +
	"OMPI_ARGV OMPI_NUM_APP_CTX OMPI_WORLD_* OMPI_TOOL_NAME OMPI_VERSION OMPI_LIBDIR_LOC OPAL_USER_PARAMS_GIVEN " +
	"PRTE_* ORTE_* HFI_NO_BACKTRACE IPATH_NO_BACKTRACE GFORTRAN_UNBUFFERED_PRECONNECTED " +
	"OMPI_MCA_* MPIR_CVAR_* " + // parameters of the libraries at run time, which launchers set too
	"MV2_COMM_WORLD_* MPICH_*HOSTNAME LOCAL_RANK RANK WORLD_SIZE LOCAL_WORLD_SIZE GROUP_RANK MASTER_ADDR " +
	"MASTER_PORT TORCHELASTIC_* " +
	// Kubernetes' services, by the forms that it documents.
	"KUBERNETES_* *_SERVICE_HOST *_SERVICE_PORT *_SERVICE_PORT_* *_PORT_*_TCP *_PORT_*_TCP_ADDR " +
	"*_PORT_*_TCP_PORT *_PORT_*_TCP_PROTO POD_NAME POD_IP POD_UID"

// ofTerminals are variables by which programs choose how they print to a terminal: colours
// and links, gcc(1) and no-color.org, and the width of lines.
var ofTerminals = []string{
	"TERM", "TERMINFO", "TERMINFO_DIRS", "COLORTERM", "TERM_URLS", "TERM_PROGRAM", "VTE_VERSION", "NO_COLOR", "CLICOLOR",
	"CLICOLOR_FORCE", "FORCE_COLOR", "COLUMNS", "LINES",
}

// session are those of them that say which terminal, shell or unit a process was
// started from, and nothing that a program could work with. A command that is run
// in its own right, and may obey anything, is not given these; the others it may
// need: a terminal's type, an agent's socket, what make hands to make, a job's
// processors, the folder of sockets XDG_RUNTIME_DIR. By the manuals of systemd (systemd.exec, pam_systemd), OpenSSH, tmux,
// screen, xinit, the startup notification and activation of freedesktop.org, and the terminals that are named.
var session = []string{
	"SHLVL", "OLDPWD", "_", "WINDOWID", "TMUX_PANE", "STY", "TERM_SESSION_ID", "SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY",
	"XDG_SESSION_*", "XDG_VTNR", "XDG_SEAT", "INVOCATION_ID", "JOURNAL_STREAM", "SYSTEMD_EXEC_PID", "MANAGERPID",
	"PYTEST_CURRENT_TEST", "WINDOWPATH", "DESKTOP_STARTUP_ID", "XDG_ACTIVATION_TOKEN",
	"GNOME_TERMINAL_SCREEN", "KONSOLE_DBUS_*", "SHELL_SESSION_ID", "KITTY_WINDOW_ID", "KITTY_PID", "WEZTERM_PANE",
	"ITERM_SESSION_ID", "ALACRITTY_WINDOW_ID", "WT_SESSION", "TILIX_ID", "TERMINATOR_UUID",
}

// jitcache's own say how results are kept, and not what they are.
const ofJitcache = "JITCACHE*"

// WithholdSession returns an environment without the variables that only name a
// session.
func WithholdSession(env []string) []string {
	return chosen(env, func(name string) bool { return !wildcard.MatchesAny(name, session) || !withholdsSession })
}

// jobserver are words of variables of make's that say where its tokens are, or how
// many there are. They differ each time, and who takes one is seen to.
var jobserver = []string{"--jobserver-auth=*", "--jobserver-fds=*", "--jobserver-style=*", "--sync-mutex=*", "-j*"}

// counted returns what counts of a variable's value.
func counted(name, value string) string {
	if name != "MAKEFLAGS" && name != "MFLAGS" && name != "CARGO_MAKEFLAGS" {
		return value
	}
	words := slices.DeleteFunc(strings.Split(value, " "), func(w string) bool { return wildcard.MatchesAny(w, jobserver) })
	return strings.Join(words, " ")
}

// Only returns what some patterns match of an environment, and where temporary
// files go.
func Only(env, patterns []string) []string {
	return chosen(env, func(name string) bool { return wildcard.MatchesAny(name, patterns) || slices.Contains(ours, name) })
}

// ours are variables that the command is given anew for each run.
var ours = []string{"TMPDIR"}

// counts reports whether a variable counts by a rule; also are names that do
// beside those.
func (r Rule) counts(name string, also []string) bool {
	switch {
	case r == NoVariables:
		return false
	case slices.Contains(also, name):
		return true
	case r == NamedVariables:
		return false
	case r == SessionVariables:
		return !wildcard.MatchesAny(name, session) && !wildcard.Matches(name, ofJitcache)
	case r == EveryVariable:
		return !wildcard.Matches(name, ofJitcache)
	}
	return (r == AllVariables || documentedNames().has(name)) && !withheldNames().has(name) && !slices.Contains(ours, name)
}

// variables returns what counts of an environment, sorted. A name that occurs twice
// has all its values, in their order: programs differ in which they take.
func (r Rule) variables(env, also []string, places []Place) []Variable {
	values := map[string][]byte{}
	for _, e := range env {
		name, value, set := strings.Cut(e, "=")
		if !r.counts(name, also) {
			continue
		}
		if set {
			e = name + "=" + Mark(counted(name, value), places)
		}
		values[name] = append(append(values[name], e...), 0)
	}
	all := make([]Variable, 0, len(values))
	for name, value := range values {
		d := key.Sum(value)
		all = append(all, Variable{name, [16]byte(d[:16])})
	}
	if r == KnownVariables {
		all = append(all, unsaidOf(env, also))
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all
}

// difference names the first variable in which two sets differ, "" if none does. Which
// names do not count makes none (named.go).
func difference(was, is []Variable) string {
	for len(was) > 0 || len(is) > 0 {
		switch {
		case len(was) > 0 && was[0].Name == unsaid:
			was = was[1:]
			continue
		case len(is) > 0 && is[0].Name == unsaid:
			is = is[1:]
			continue
		case len(is) == 0 || len(was) > 0 && was[0].Name < is[0].Name:
			return was[0].Name + " is no longer set"
		case len(was) == 0 || is[0].Name < was[0].Name:
			return is[0].Name + " is set now"
		case was[0].Value != is[0].Value:
			return was[0].Name + " has another value"
		}
		was, is = was[1:], is[1:]
	}
	return ""
}
