/**
 * Two triangles side by side above each other, with different sizes: vertex 3 is above the inside of the lower face.
 */
#ifndef TESTS_TWO_TRIANGLES_H
#define TESTS_TWO_TRIANGLES_H

#include <stdint.h>

/* Positions of six vertices. */
#define TWO_TRIANGLES(height) 0, 0, 0, 4, 0, 0, 0, 4, 0, 1, 1, height, 2, 1, height + 1, 1, 2, height + 1

static const int32_t two_faces[] = {0, 2, 1, 5, 3, 4};

#endif
