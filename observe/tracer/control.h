/* control.h: the mechanisms that a control build of the tests leaves out.
 *
 * A test proves nothing if it also passes without the mechanism that it tests. So the
 * tracer can be built with -DJO_CONTROL=NAME, where NAME is one of those below, and the
 * mechanism's tests, which name it beside themselves (tests/areas/control_tests.py), must
 * then fail. Another name does not compile. In an ordinary build JO_WITHOUT is always 0. */
#ifndef JO_CONTROL_H
#define JO_CONTROL_H

enum jo_control {
	JO_CONTROL_NOTHING,
	JO_CONTROL_ABSENT,      /* names that do not exist are not noted */
	JO_CONTROL_LOOKED,      /* files that are only looked at are not noted */
	JO_CONTROL_TEXT,        /* the texts of links are not noted */
	JO_CONTROL_WAY,         /* links on the way to a path that the tree is told are not noted */
	JO_CONTROL_CHILDREN,    /* the calls of processes that the command starts are not handled */
	JO_CONTROL_CONTENT,     /* contents of files whose stamps prove nothing are not sent */
	JO_CONTROL_VDSO,        /* the vDSO is not changed: reading the clock is not noticed */
	JO_CONTROL_PAGE,        /* the vDSO is always hidden from programs, never changed */
	JO_CONTROL_OWN,         /* what the tree made itself is an input like anything else */
	JO_CONTROL_UNSTEADY,    /* the appearance of an absent name is not noticed */
	JO_CONTROL_RESTART,     /* calls that a signal interrupts fail with EINTR */
	JO_CONTROL_KILL,        /* the end of the tracer does not kill the tree */
	JO_CONTROL_GRACE,       /* the tracer waits for all processes that the command leaves behind */
	JO_CONTROL_WORKING,     /* a rest that works is given no more time than one that sleeps */
	JO_CONTROL_PRIVILEGES,  /* a tree that needs privileges is not run again without the filter */
	JO_CONTROL_STRANGERS,   /* signals to processes outside the tree are not noticed */
	JO_CONTROL_DESCRIPTORS, /* changes through a descriptor are not noticed */
	JO_CONTROL_TYPES,       /* the types of the names in a folder are not noted */
	JO_CONTROL_GIVEN,       /* a folder whose descriptor the command was given is like any other */
	JO_CONTROL_PROC,        /* all that /proc tells about a process is taken to follow from the process */
	JO_CONTROL_WALKS,       /* a process that passes through a folder counts as having asked what it is */
	JO_CONTROL_ONCE,        /* a child that cannot be watched runs on before it is killed */
	JO_CONTROL_INODES,      /* questions for single fields of an inode are not noticed */
	JO_CONTROL_AGAIN,       /* a repeated question for a limit counts as the first one does */
	JO_CONTROL_MADE,        /* a look at the tree's own files does not count as a use of the umask */
	JO_CONTROL_PERMITS,     /* what a process may do with a name, or may not, is not noted */
	JO_CONTROL_ATTRIBUTES,  /* questions for absent extended attributes, and for flags, are not noted */
	JO_CONTROL_BLINDNESS,   /* the tracer goes on looking when the tree may see other files */
	JO_CONTROL_LOSSES,      /* nobody is told about output that cannot be passed on */
	JO_CONTROL_KEEPING,     /* a signal does not end the keeping of the result */
	JO_CONTROL_ORPHANS,     /* a process waits for ever for its parent's event */
	JO_CONTROL_PLACES,      /* the end of the pin also resets CPUs that a process has set for itself */
	JO_CONTROL_SOUGHT,      /* seeks act on the tracer's file, whatever the output stands for */
	JO_CONTROL_ROOTS,       /* a path below a root of openat2 is taken for one below the real root */
	JO_CONTROL_OWNTIMES,    /* questions for just the time of the tree's own files are not noticed */
	JO_CONTROL_URING,       /* a use of io_uring is not noticed */
	JO_CONTROL_STANDS,      /* a question for what output is, by a path, is answered with the tracer's file */
	JO_CONTROL_LATER,       /* the order of what is printed by descriptors other than 1 and 2 is not kept */
	JO_CONTROL_HANDED,      /* what a program gets open from the one before counts for that one alone */
	JO_CONTROL_MOUNTS,      /* a question for what is mounted is not noticed */
	JO_CONTROL_LEAVING,     /* a command in rounds is ended at once when its host has died */
	JO_CONTROL_OVER,        /* the thread that reads notices does not notice that there will be none */
	JO_CONTROL_QUESTIONS,   /* questions about descriptors that were given are not noticed */
	JO_CONTROL_IMPORTS,     /* all questions of Python about its sources are taken for its own */
	JO_CONTROL_STOOD,       /* what the tree has read and then writes over is not kept for the report */
	JO_CONTROL_JOBSERVER,   /* what MAKEFLAGS names as a job server is one, whatever it is */
	JO_CONTROL_STEPS,       /* what a process does with a job server under another number is not noticed */
	JO_CONTROL_READINGS,    /* the clock of a hermetic tree is the true one */
	JO_CONTROL_FILETIMES,   /* the times of files in a hermetic tree are the true ones */
	JO_CONTROL_DEADLINES,   /* the ends of waits in a hermetic tree are not moved */
	JO_CONTROL_SLEEPS,      /* a sleep does not move the clock of a process in a hermetic tree */
	JO_CONTROL_DECIDERS,    /* programs that decide by times are run in a hermetic tree like any other */
	JO_CONTROL_AUXILIARY,   /* a stack that cannot be read is taken for one without a vDSO */
};

#ifndef JO_CONTROL
#define JO_CONTROL NOTHING
#endif

#define JO_CONTROL_JOINED(name) JO_CONTROL_##name
#define JO_CONTROL_NAMED(name) JO_CONTROL_JOINED(name)

/* JO_WITHOUT tells whether this build leaves out a mechanism. */
#define JO_WITHOUT(name) (JO_CONTROL_NAMED(JO_CONTROL) == JO_CONTROL_##name)

#endif
