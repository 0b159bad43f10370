/**
 * For loops whose bounds are constants after inlining, and that vectorise only if everything in them is inlined.
 */
#ifndef FRIC_INLINE_H
#define FRIC_INLINE_H

#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#endif
