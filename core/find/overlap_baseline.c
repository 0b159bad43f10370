#define KERNELS fricp_overlap_baseline
#include "core/find/overlap.inc"
