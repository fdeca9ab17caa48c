/* controls.h: mechanisms that a build for the tests leaves out, to show that the
 * tests would notice. Each is one of this list; build_library.py --control takes
 * its name, and one that is misspelled does not compile. */
#ifndef JC_CONTROLS_H
#define JC_CONTROLS_H

enum jc_control {
	JC_EVERYTHING,
	JC_NO_SIGNALS,   /* the host's signals are not looked after when Go starts */
	JC_NO_ENTER,     /* nor when a thread enters it */
	JC_NO_STACK,     /* a thread keeps the stack for signals that Go gives it */
	JC_KEEP_STACK,   /* one that it was given stays when it ends */
	JC_NO_COPY,      /* a forked child uses its parent's runtime */
	JC_NO_LOCKS,     /* fork takes no locks */
	JC_NO_OWN_FILE,  /* the library's own file is not kept open */
	JC_NO_PATH,      /* nor opened again where the host has closed it */
	JC_NO_VERSION,   /* any file that is there is copied */
	JC_COPY_WATCHES, /* a copy has handlers of fork of its own */
	JC_SLOW_COPY,    /* a copy takes more than ten times what it may */
	JC_NO_LIMITS,    /* the process's limits are not looked at before a copy */
	JC_OLD_ORDER,    /* at exit caches are opened again under the lock of their list */
	JC_NO_SWEEP,     /* what killed processes have left stays */
	JC_SWEEPS_ALL,   /* what living ones have made is swept too */
	JC_TEARS_DOWN,   /* at exit everything is freed */
	JC_LINGERS,      /* exit waits for what is in use */
	JC_NO_UNWIND,    /* a callback that does not return keeps its lease */
	JC_NO_FRAMES,    /* a call from inside a callback ends its lease */
	JC_HOARDS,       /* a cursor keeps what it has given */
	JC_STAYS,        /* a cursor goes on until it has found something */
	JC_NO_LAYERS,    /* a lookup ends where there is no file */
	JC_STAYS_QUIET,  /* remotes that were off a moment ago are not asked again */
	JC_LATE_STORE,   /* a commit inside a callback is stored when that returns */
};

#ifdef JC_ANY_CONTROL
/* One build for all of them: which one is left out stands at the end of this text, as
 * its number in the list. Tests write it into copies of the built library
 * (tests/areas/without.py), because to link each takes ten seconds. */
#define JC_SLOT "jitcache: what the front leaves out: "
extern const volatile unsigned char jc_control_slot[sizeof JC_SLOT];
#define JC_CONTROL ((enum jc_control)jc_control_slot[sizeof JC_SLOT - 1])
#else
#ifndef JC_CONTROL
#define JC_CONTROL JC_EVERYTHING
#endif
_Static_assert(JC_CONTROL >= JC_EVERYTHING, "JC_CONTROL is one of the list");
#endif

#endif
