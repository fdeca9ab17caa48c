/* observer.h: the program that watches commands. */
#ifndef JC_OBSERVER_H
#define JC_OBSERVER_H

/* jc_observer_path returns where jitcache-observe is: JITCACHE_OBSERVER, or beside
 * this library, or where make install puts it; "" if it is nowhere. The text stays
 * valid. Called under jc_start_lock. */
const char *jc_observer_path(void);

#endif
