#include "core/kernels/kernels.h"

#include <string.h>

const struct fric_kernels fricp_kernels_scalar = {.name = "scalar"};

static const struct fric_kernels *const variants[] = {
#ifdef __x86_64__
	&fricp_kernels_avx512, &fricp_kernels_avx2,
#endif
	&fricp_kernels_baseline, &fricp_kernels_scalar};

enum { N_VARIANTS = sizeof(variants) / sizeof(variants[0]) };

static bool runs(const struct fric_kernels *kernels)
{
#ifdef __x86_64__
	if (kernels == &fricp_kernels_avx512)
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
		       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
		       __builtin_cpu_supports("fma");
	if (kernels == &fricp_kernels_avx2)
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
	return kernels;
}

const struct fric_kernels *fric_kernels_find(const char *name)
{
	for (int i = 0; i < N_VARIANTS; i++)
		if (!strcmp(variants[i]->name, name))
			return runs(variants[i]) ? variants[i] : NULL;
	return NULL;
}

const struct fric_kernels *fric_kernels_best(void)
{
	int i = 0;
	while (!runs(variants[i]))
		i++;
	return variants[i];
}

const char *fric_kernels_name(const struct fric_kernels *kernels)
{
	return kernels->name;
}

const struct fric_kernels *fricp_kernels_of(const struct fric_context *context)
{
	return context->kernels ? context->kernels : fric_kernels_best();
}
