#define KERNELS fricp_kernels_baseline
#define KERNELS_NAME "baseline"
#include "core/kernels/kernels.inc"
