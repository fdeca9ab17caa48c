/* controls.h: mechanisms that a control build leaves out, to show that the tests
 * notice. This is their only declaration; a test names them beside itself
 * (tests/areas/control_tests.py). build_library.py --front takes a name of this list;
 * a misspelled one does not compile. */
#ifndef JC_CONTROLS_H
#define JC_CONTROLS_H

enum jc_control {
	JC_EVERYTHING,
	JC_NO_SIGNALS,   /* Go's start changes the host's signals */
	JC_NO_ENTER,     /* a thread's first call into Go changes the host's signals */
	JC_NO_STACK,     /* a thread keeps the signal stack that Go gives it */
	JC_KEEP_STACK,   /* a thread's signal stack is not freed when it ends */
	JC_NO_COPY,      /* a forked child uses its parent's runtime */
	JC_NO_LOCKS,     /* fork takes no locks */
	JC_NO_OWN_FILE,  /* the library's own file is not kept open */
	JC_NO_PATH,      /* the library's own file is not opened again if the host has closed it */
	JC_NO_VERSION,   /* a file of another version is copied too */
	JC_COPY_WATCHES, /* a copy registers fork handlers of its own */
	JC_SLOW_COPY,    /* a copy takes more than ten times as long as it may */
	JC_NO_LIMITS,    /* a copy is made without a look at the process's limits */
	JC_OLD_ORDER,    /* at exit caches are opened again under the lock of their list */
	JC_NO_SWEEP,     /* files of killed processes stay */
	JC_SWEEPS_ALL,   /* files of running processes are removed too */
	JC_TEARS_DOWN,   /* at exit everything is freed */
	JC_LINGERS,      /* exit waits until no handle is in use */
	JC_NO_UNWIND,    /* a callback that does not return keeps its lease */
	JC_NO_FRAMES,    /* a call from inside a callback ends the callback's lease */
	JC_HOARDS,       /* a cursor keeps what it has returned */
	JC_STAYS,        /* a cursor's call goes on until it finds an entry */
	JC_NO_LAYERS,    /* a lookup ends at the own directory */
	JC_STAYS_QUIET,  /* remotes that were off once are never asked again */
	JC_LATE_STORE,   /* a commit inside a callback is stored when the callback returns */
};

#ifdef JC_ANY_CONTROL
/* One build has all controls. The last byte of this text is the number of the active
 * one in the list. Tests write it into copies of the built library
 * (tests/areas/without.py), because linking one for each takes ten seconds. */
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
