/**
 * The numbering of the DOFs in velocities, gradients and rows of Hessians. Only this wing defines it: first the DOFs of
 * all vertices, one per axis, then the DOFs of all bodies, a velocity and an angular velocity each.
 */
#ifndef FRIC_DOFS_H
#define FRIC_DOFS_H

#include "core/contacts/contacts.h"

/* DOFs of a body; DOFs of the largest stencils, four vertices or two bodies. */
enum { MOST_WIDTH = 6, MOST_BLOCK = 12 };

/* Number of DOFs of a vertex. Here and below, pass dim and type as constants wherever speed matters. */
static inline int n_vertex_dofs(int dim)
{
	return dim;
}

/* The first DOF of a vertex; the others follow it. */
static inline size_t vertex_dof(int dim, size_t vertex)
{
	return (size_t)n_vertex_dofs(dim) * vertex;
}

/* Number of DOFs of a body: its twist. */
static inline int n_body_dofs(int dim)
{
	return dim == 3 ? 6 : 3;
}

/* The first DOF of a body. bodies: the contacts of bodies */
static inline size_t body_dof(const struct fric_contacts *bodies, size_t body)
{
	return bodies->first_dof + (size_t)n_body_dofs(bodies->dim) * body;
}

/* Number of DOFs of each member of a stencil of this type. */
static inline int n_member_dofs(int dim, enum fric_type type)
{
	return is_of_bodies(type) ? n_body_dofs(dim) : n_vertex_dofs(dim);
}

/* The first DOF of member k of contact i, which is of this type. For k beyond the stencil it returns some valid DOF. */
static inline size_t member_dof(const struct fric_contacts *c, int dim, enum fric_type type, int k, size_t i)
{
	const size_t member = (size_t)c->vertices[k][i];
	return is_of_bodies(type) ? body_dof(c, member) : vertex_dof(dim, member);
}

/* The number of DOFs of all vertices, and of vertices and bodies. */
static inline size_t n_dofs_at_vertices(const struct fric_contacts *c)
{
	return vertex_dof(c->dim, c->n_vertices);
}

static inline size_t n_dofs(const struct fric_contacts *c)
{
	return c->bodies ? body_dof(c->bodies, c->bodies->n_vertices) : n_dofs_at_vertices(c);
}

#endif
