/** Looks up the system's function of a name that this program redefines. */
#ifndef SIMULATOR_REAL_H
#define SIMULATOR_REAL_H

#include <dlfcn.h>

#define REAL(name) \
	__extension__({ \
		static __typeof__(&name) real_; \
		if (!real_) \
			*(void **)(void *)&real_ = dlsym(RTLD_NEXT, #name); \
		real_; \
	})

#endif
