#ifdef __x86_64__
#define KERNELS fricp_kernels_avx512
#define KERNELS_NAME "avx512"
#include "core/kernels/kernels.inc"
#endif
