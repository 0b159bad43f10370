#ifdef __x86_64__
#define KERNELS fricp_kernels_avx2
#define KERNELS_NAME "avx2"
#include "core/kernels/kernels.inc"
#endif
