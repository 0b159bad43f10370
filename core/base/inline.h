/**
 * For loops whose bounds are constants after inlining, and that vectorise only if everything in them is inlined.
 * INDEPENDENT iterations write nothing that others read. Unlike with omp simd, structures in such a loop may be handed to
 * functions by address: they end up in registers all the same.
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
