#ifdef __x86_64__
#define KERNELS fricp_overlap_avx512
#include "core/find/overlap.inc"
#endif
