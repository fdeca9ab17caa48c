// objects.h: what the tests of the C++ headers begin with.
#ifndef OBJECTS_H
#define OBJECTS_H

#include "check.h"

#include <jitcache.hpp>

static jitcache::Cache open_it()
{
	return jitcache::Cache::open(jitcache::Options().set("directory", check_dir).set("memory_size", "1Mi"));
}

// status_of returns the status that a call throws, 0 if it does not.
template <typename F> static int32_t status_of(F call)
{
	try {
		call();
	} catch (const jitcache::Error &e) {
		CHECK(*e.what() != 0);
		return e.status();
	}
	return 0;
}

#endif
