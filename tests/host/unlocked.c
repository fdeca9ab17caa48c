/* The tier in memory with its locks taken out: a race that must be seen. */
#include <pthread.h>

#define pthread_mutex_lock(lock) ((void)(lock))
#define pthread_mutex_unlock(lock) ((void)(lock))
#include "../../core/memory/memory.c"
