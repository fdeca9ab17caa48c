/* observer.h: jitcache-observe, the program that observes commands. */
#ifndef JC_OBSERVER_H
#define JC_OBSERVER_H

/* jc_observer_path returns the path of jitcache-observe: JITCACHE_OBSERVER, else beside
 * this library, else where make install puts it; "" if it is not found. The text stays
 * valid. Called under jc_start_lock. */
const char *jc_observer_path(void);

#endif
