/**
 * Macros for loops that vectorise only if everything in them is inlined, with bounds that are constants after inlining.
 * Iterations of an INDEPENDENT loop write nothing that other iterations read. Unlike with omp simd, structures may be
 * passed to functions by address in such a loop and still end up in registers.
 */
#ifndef FRIC_INLINE_H
#define FRIC_INLINE_H

#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

#endif
