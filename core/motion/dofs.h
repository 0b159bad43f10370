/**
 * The DOFs of what moves, which velocities, gradients and the rows of Hessians are numbered by. Only this wing numbers
 * them: first those of all vertices, one for each axis, then those of all bodies, a velocity and an angular velocity each.
 */
#ifndef FRIC_DOFS_H
#define FRIC_DOFS_H

#include "core/contacts/contacts.h"

enum { MOST_MEMBER_DOFS = 3 };

/* How many DOFs a vertex has. Here and below, dim and type are to be constants wherever this has to be fast. */
static inline int n_vertex_dofs(int dim)
{
	return dim;
}

/* The first DOF of a vertex; the others follow it. */
static inline size_t vertex_dof(int dim, size_t vertex)
{
	return (size_t)n_vertex_dofs(dim) * vertex;
}

/* How many DOFs a body has: its twist. */
static inline int n_body_dofs(int dim)
{
	return dim == 3 ? 6 : 3;
}

/* How many DOFs each member of such a stencil has, at most MOST_MEMBER_DOFS. */
static inline int n_member_dofs(int dim, enum fric_type type)
{
	(void)type;
	return n_vertex_dofs(dim);
}

/* The first DOF of member k of contact i, of that type. Beyond the stencil's size, one that exists. */
static inline size_t member_dof(const struct fric_contacts *c, int dim, enum fric_type type, int k, size_t i)
{
	(void)type;
	return vertex_dof(dim, (size_t)c->vertices[k][i]);
}

/* The first DOF of a body, whose contacts these are. */
static inline size_t body_dof(const struct fric_contacts *bodies, size_t body)
{
	return bodies->first_dof + (size_t)n_body_dofs(bodies->dim) * body;
}

/* The number of all DOFs of vertices, and of bodies, too. */
static inline size_t n_dofs_at_vertices(const struct fric_contacts *c)
{
	return vertex_dof(c->dim, c->n_vertices);
}

static inline size_t n_dofs(const struct fric_contacts *c)
{
	return c->bodies ? body_dof(c->bodies, c->bodies->n_vertices) : n_dofs_at_vertices(c);
}

#endif
