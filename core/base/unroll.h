/**
 * For loops whose bounds are constants after inlining.
 */
#ifndef FRIC_UNROLL_H
#define FRIC_UNROLL_H

#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#endif
