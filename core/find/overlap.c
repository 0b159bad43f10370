#include "core/find/overlap.h"

#include <string.h>

#include "core/kernels/kernels.h"

const struct overlap_kernels *fricp_overlap_of(const struct fric_context *context)
{
#ifdef __x86_64__
	const char *name = fricp_kernels_of(context)->name;
	if (!strcmp(name, "avx512"))
		return &fricp_overlap_avx512;
	if (!strcmp(name, "avx2"))
		return &fricp_overlap_avx2;
#else
	(void)context;
#endif
	return &fricp_overlap_baseline;
}
