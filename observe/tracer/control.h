/* control.h: the mechanisms that a control build of the tests leaves out.
 *
 * A test that also passes without the mechanism that it is about shows nothing. So the
 * tracer can be built with -DJO_CONTROL=NAME, where NAME is one of these, and the
 * mechanism's tests must fail with it (tests/areas/observe.py). Another name does not
 * compile. In all other builds JO_WITHOUT is a constant. */
#ifndef JO_CONTROL_H
#define JO_CONTROL_H

enum jo_control {
	JO_CONTROL_NOTHING,
	JO_CONTROL_ABSENT,      /* names that are not there are not noted */
	JO_CONTROL_LOOKED,      /* what is only looked at is not noted */
	JO_CONTROL_TEXT,        /* the texts of links are not noted */
	JO_CONTROL_WAY,         /* links on the way to a path that is told as it is are not */
	JO_CONTROL_CHILDREN,    /* processes that the command starts are not looked into */
	JO_CONTROL_CONTENT,     /* contents of files whose stamps prove nothing are not sent */
	JO_CONTROL_VDSO,        /* the kernel's page of functions is as it was: the clock is not seen */
	JO_CONTROL_PAGE,        /* a program is not told of that page */
	JO_CONTROL_OWN,         /* what the tree made itself is an input like anything */
	JO_CONTROL_UNSTEADY,    /* that a name has appeared is not noticed */
	JO_CONTROL_RESTART,     /* calls that a signal interrupts fail with EINTR */
	JO_CONTROL_KILL,        /* the tree is not ended with the tracer */
	JO_CONTROL_GRACE,       /* the tracer waits for all that the command leaves behind */
	JO_CONTROL_PRIVILEGES,  /* what needs privileges is not started again without the filter */
	JO_CONTROL_STRANGERS,   /* signals to processes outside the tree are not noticed */
	JO_CONTROL_DESCRIPTORS, /* changes through an open file are not noticed */
	JO_CONTROL_TYPES,       /* of what type the names in a folder are is not noted */
	JO_CONTROL_GIVEN,       /* what is reached from a descriptor that the command was given is like anything */
	JO_CONTROL_PROC,        /* all that /proc says of a process follows from what it is */
	JO_CONTROL_WALKS,       /* who passes through a folder counts as one who has asked what it is */
	JO_CONTROL_ONCE,        /* a child that cannot be watched goes on before it is ended */
	JO_CONTROL_INODES,      /* of a file anything may be asked for */
	JO_CONTROL_AGAIN,       /* how often a program asks for a limit makes no difference */
	JO_CONTROL_MADE,        /* what the tree has made says nothing of the umask */
	JO_CONTROL_PERMITS,     /* what may be done with a name is not noted, nor what may not */
	JO_CONTROL_ATTRIBUTES,  /* extended attributes that are not there, and flags, may be asked for */
	JO_CONTROL_BLINDNESS,   /* looking goes on when the tree sees another world */
	JO_CONTROL_LOSSES,      /* of output that cannot be passed on nobody is told */
	JO_CONTROL_KEEPING,     /* a signal while the result is kept is held back */
	JO_CONTROL_ORPHANS,     /* a process waits for ever for its parent's event */
	JO_CONTROL_PLACES,      /* the CPUs that a process has set for itself are taken for the pin */
	JO_CONTROL_SOUGHT,      /* output is a file without a place, whatever it stands for */
	JO_CONTROL_ROOTS,       /* a path that is to begin at a folder is taken for one that begins at the root */
	JO_CONTROL_OWNTIMES,    /* of what the tree has made the time may be asked for */
	JO_CONTROL_URING,       /* who asks for io_uring is not seen */
	JO_CONTROL_STANDS,      /* output is a file for who asks of its path, whatever it stands for */
	JO_CONTROL_LATER,       /* what is printed by other descriptors than 1 and 2 comes in any order */
	JO_CONTROL_AUXILIARY,   /* a stack that cannot be read is taken for one without the kernel's page */
};

#ifndef JO_CONTROL
#define JO_CONTROL NOTHING
#endif

#define JO_CONTROL_JOINED(name) JO_CONTROL_##name
#define JO_CONTROL_NAMED(name) JO_CONTROL_JOINED(name)

/* JO_WITHOUT asks whether this build goes without a mechanism. */
#define JO_WITHOUT(name) (JO_CONTROL_NAMED(JO_CONTROL) == JO_CONTROL_##name)

#endif
