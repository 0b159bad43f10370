/* SPDX-License-Identifier: MIT */
/**
 * libfric: the friction terms of Incremental Potential Contact.
 *
 * A *batch* (contacts, coefficients, positions) is prepared once into *lagged contacts*, which are then evaluated at
 * any number of velocities. The library contains no JSON, no sockets, no printing and no global state: every call takes
 * a context, and calls may run concurrently. Quantities have the names of docs/physics.md. Matrices are row-major,
 * sizes are counts of entries unless a name ends in _bytes, and indices start at 0. The DOF of vertex i and axis a is
 * i*dim + a. The DOFs of bodies follow the DOFs of all vertices: 6 per body in 3D (velocity, angular velocity), 3 in
 * 2D. [n_dofs] includes both.
 *
 * Preconditions. The library trusts its caller as libm does: indices are in range and distinct within a stencil,
 * numbers are finite and have the signs stated here, and n_dofs and the number of contacts are below 2^31. (The HTTP
 * service checks all of this before it calls.) Errors that depend on computed values (degenerate geometry, penetration,
 * negative blended coefficients, overflow) are detected here and reported.
 *
 * Allocation. Each call that takes a context documents its allocations. They come from malloc or from `memory`, which
 * is fric_context.memory, or malloc if that is NULL. Memory that is not part of a result is released before the call
 * returns. All other calls allocate nothing. Threads, which OpenMP starts and keeps, are not counted.
 *
 * Growth. Later versions append members to structs and values to enums, and a new member that is 0 keeps the previous
 * behaviour. So zero-initialise structs and set members by name; programs then compile with every later version and get
 * the same results. Compiled programs depend on struct sizes and enum values: FRIC_ABI increases with every change of a
 * struct's layout, an enum value or a function's parameters, and with it the name of the shared library,
 * libfric.so.FRIC_ABI.
 */
#ifndef FRIC_H
#define FRIC_H

#include <stddef.h>
#include <stdint.h>

/* A flag that one thread sets while others read it: std::atomic<bool>, in C atomic_bool. */
#ifdef __cplusplus
#include <atomic>
typedef std::atomic<bool> fric_flag;
static_assert(sizeof(fric_flag) == sizeof(bool) && alignof(fric_flag) == alignof(bool) && ATOMIC_BOOL_LOCK_FREE == 2,
              "the library, which is written in C, sees a flag as one byte");
extern "C" {
#else
#include <stdatomic.h>
#include <stdbool.h>
typedef _Atomic(bool) fric_flag;
#endif

#define FRIC_VERSION "0.1.0"
#define FRIC_ABI 3 /* the shared library's name is libfric.so.3 */

/* Contact types, in the order in which groups are evaluated and listed everywhere. */
enum fric_type {
	FRIC_VERTEX_VERTEX,
	FRIC_EDGE_VERTEX,
	FRIC_EDGE_EDGE,
	FRIC_FACE_VERTEX,
	FRIC_PLANE_VERTEX,
	FRIC_BODY_BODY, /* two rigid bodies; FRIC_BODY_WORLD: a body and the world */
	FRIC_BODY_WORLD
};
#define FRIC_N_TYPES 7
#define FRIC_N_VERTEX_TYPES 5 /* the types at vertices come first */
#define FRIC_MAX_STENCIL 4

enum fric_code {
	FRIC_OK = 0,
	FRIC_E_MEMORY,     /* an allocation failed */
	FRIC_E_STOPPED,    /* the context's stop flag was raised */
	FRIC_E_NOT_FINITE, /* a result does not fit a double; `contact` is set only if a single contact is the cause */
	/* The contact itself is faulty; skippable (see fric_batch.skip_degenerate). */
	FRIC_E_COINCIDENT_VERTICES,
	FRIC_E_ZERO_LENGTH_EDGE,
	FRIC_E_VERTEX_ON_EDGE,
	FRIC_E_PARALLEL_EDGES,
	FRIC_E_COLLAPSED_TRIANGLE,
	FRIC_E_PENETRATION,
	FRIC_E_NEGATIVE_COEFFICIENT,
	FRIC_E_GRAIN_ALONG_NORMAL,
	FRIC_E_TOO_MANY, /* more pairs than fric_finding.most */
};

/* The first fault in the order of groups and contacts, whichever thread found it. contact < 0: no single contact is at
 * fault. */
struct fric_error {
	enum fric_code code;
	enum fric_type group;
	int64_t contact;
};

/* The curve of the smooth law from static to kinetic friction. */
enum fric_transition { FRIC_CUBIC, FRIC_QUADRATIC, FRIC_PEAK };
enum fric_blend { FRIC_MEAN, FRIC_MIN, FRIC_MAX, FRIC_PRODUCT, FRIC_GEOMETRIC_MEAN, FRIC_HARMONIC_MEAN };
enum fric_projection { FRIC_PROJECT_NONE, FRIC_PROJECT_CLAMP, FRIC_PROJECT_ABS };
enum fric_triangle { FRIC_FULL, FRIC_UPPER, FRIC_LOWER };
/* Source of the coefficients of contacts without their own. */
enum fric_mu_source { FRIC_MU_NONE, FRIC_MU_SCALAR, FRIC_MU_VERTEX, FRIC_MU_TABLE };

/* The inner loops, compiled for several instruction sets. All variants give bitwise equal results. */
struct fric_kernels;
const struct fric_kernels *fric_kernels_best(void);
/* "avx512", "avx2", "baseline" or "scalar"; NULL if this build or processor has no such variant. */
const struct fric_kernels *fric_kernels_find(const char *name);
const char *fric_kernels_name(const struct fric_kernels *kernels);

/* Allocator of large blocks. Blocks must be 64-byte aligned, and are given back with the size with which they were
 * taken. Both functions may be called from any thread. The allocator must outlive everything that was allocated from
 * it. */
struct fric_memory {
	void *(*take)(void *pool, size_t bytes); /* NULL when out of memory */
	void (*give)(void *pool, void *block, size_t bytes);
	void *pool;
};

/* Passed to every call and borrowed for its duration, except `memory`, which must live longer. */
struct fric_context {
	int n_threads;                      /* >= 1; results do not depend on it */
	const fric_flag *stop;              /* NULL, or a flag; once it is set, a call soon returns FRIC_E_STOPPED */
	const struct fric_kernels *kernels; /* NULL: the best that this processor supports */
	const struct fric_memory *memory;   /* NULL: malloc */
	size_t parallel_from;               /* calls with fewer contacts run on the calling thread; 0: a measured default */
	size_t stream_from;                 /* larger Hessians (bytes) bypass the caches; 0: a measured default */
};

/* A per-contact field: row i starts at data + i*stride. stride 0: one row for all contacts. data NULL: absent. */
struct fric_values {
	const double *data;
	size_t stride;
};

/* The n contacts of one type. k, the stencil's size, and m, the number of closest-point coordinates, follow from the
 * type: vertex_vertex 2,0  edge_vertex 3,1  edge_edge 4,2  face_vertex 4,2  plane_vertex 1,0  body_body 2,0
 * body_world 1,0. */
struct fric_group {
	size_t n;
	const int32_t *vertices;             /* [n, k]; for body_body and body_world: bodies */
	struct fric_values normal_force;     /* [n] >= 0; absent: from the barrier (not for bodies) */
	struct fric_values weight;           /* [n]; absent: 1 */
	struct fric_values mu_s, mu_k;       /* [n] >= 0, both or neither; absent: from fric_batch.friction */
	struct fric_values eps_v;            /* [n] > 0; absent: from fric_batch.friction */
	struct fric_values mu_aniso;         /* [n, dim-1] > 0; absent: 1 */
	struct fric_values mu_s_aniso;       /* [n, 2] >= 0, 3D; absent: 0 */
	struct fric_values mu_k_aniso;       /* [n, 2] >= 0, 3D; absent: 0 */
	struct fric_values tangent_basis;    /* [n, dim, dim-1]; if present, geometry is given and positions are not read */
	struct fric_values closest_point;    /* [n, m]; required with tangent_basis where m > 0, otherwise absent */
	struct fric_values plane_normal;     /* [n, dim], not zero, any length; plane_vertex with derived geometry */
	struct fric_values plane_origin;     /* [n, dim]; plane_vertex where a distance is needed */
	struct fric_values stribeck_speed;   /* [n] > 0, FRIC_STRIBECK and FRIC_EXPONENTIAL; absent: from the law */
	struct fric_values viscous;          /* [n] >= 0, 1/velocity; absent: from the law */
	struct fric_values surface_velocity; /* [n, dim] added to the velocity of the second side's members; absent: 0 */
	struct fric_values anchor; /* [n, dim] velocity: elastic deflection carried over from earlier steps; absent: 0 */
	struct fric_values grain;  /* [n, 3] any length, 3D without tangent_basis: first basis direction */
	struct fric_values point, normal;            /* [n, dim] bodies only: contact point; normal, not zero, any length */
	struct fric_values spin_radius, roll_radius; /* [n] >= 0, length, bodies only; spin in 3D; absent: 0 */
	/* [n] >= 0, length^4, edge_edge only; absent: 0. Features of a contact with a positive one are always searched, and
	 * edges a, b with |a x b|^2 below it at the positions have no friction. */
	struct fric_values mollifier;
};

enum fric_law_type { FRIC_SMOOTH, FRIC_STRIBECK, FRIC_EXPONENTIAL, FRIC_CURVE, FRIC_ADHESION };

/* The points of a measured curve: factors of the coefficient against the speed in excess of eps_v; at least two. */
struct fric_curve {
	size_t n;
	const double *speeds;  /* [n] from 0, strictly ascending */
	const double *factors; /* [n] >= 0, the first is 1 */
	const double *areas; /* NULL, or [n] from fric_curve_areas (fric_mollifier.h); only the scalar functions read it */
};

/* The friction law (docs/physics.md 2). All zero: the default. */
struct fric_law {
	enum fric_transition transition; /* FRIC_SMOOTH */
	enum fric_law_type type;
	double stribeck_speed;   /* > 0, FRIC_STRIBECK and FRIC_EXPONENTIAL; for groups without their own */
	double viscous;          /* >= 0, 1/velocity; for groups without their own */
	struct fric_curve curve; /* FRIC_CURVE */
};

struct fric_friction {
	struct fric_law law;
	double eps_v; /* > 0; not read if every group has its own */
	enum fric_mu_source source;
	double mu_s, mu_k;                           /* FRIC_MU_SCALAR */
	const double *vertex_mu_s, *vertex_mu_k;     /* FRIC_MU_VERTEX: [n_vertices] >= 0 */
	enum fric_blend blend;                       /* FRIC_MU_VERTEX */
	const int32_t *vertex_material;              /* FRIC_MU_TABLE: [n_vertices] in [0, n_materials) */
	int32_t plane_material;                      /* FRIC_MU_TABLE with plane_vertex and body_world */
	size_t n_materials;                          /* FRIC_MU_TABLE */
	const double *material_mu_s, *material_mu_k; /* FRIC_MU_TABLE: [n_materials, n_materials] >= 0, symmetric */
	const int32_t *body_material;                /* FRIC_MU_TABLE: [n_bodies] in [0, n_materials) */
};

enum fric_barrier_type {
	FRIC_CLAMPED_LOG,
	FRIC_NORMALIZED_CLAMPED_LOG,
	FRIC_CLAMPED_LOG_SQUARED,
	FRIC_CUBIC_BARRIER,
	FRIC_TWO_STAGE,
};
/* Factor of the force: 1, or dhat over the barrier's units, which gives the barrier the unit of dhat. */
enum fric_barrier_scaling { FRIC_SCALING_NONE, FRIC_SCALING_PHYSICAL };

/* Barrier on squared distances (docs/physics.md 3); gives the normal force of contacts without their own, and the
 * energy of FRIC_TERM_BARRIER. */
struct fric_barrier {
	double dhat;      /* > 0, length */
	double stiffness; /* > 0 */
	double dmin;      /* >= 0, length */
	enum fric_barrier_type type;
	enum fric_barrier_scaling scaling;
};

/* The energies that a batch is prepared for and that a query adds up; 0 means FRIC_TERM_FRICTION.
 *
 * The barrier's energy is the sum of weight * stiffness * m * b(distance) over all contacts at the current positions: b
 * is the antiderivative of the normal force (barrier type and scaling), 0 from dhat on, and m is the mollifier of
 * edge_edge contacts, 1 for all others. It is a function of positions, so it acts through a fric_current. With it, no
 * group may have a tangent_basis or normal_force, and there must be no bodies. */
#define FRIC_TERM_FRICTION 1u
#define FRIC_TERM_BARRIER 2u

/* How closest points are found: as the stencil says (the closest point is not clamped), or by the closest feature of the
 * two primitives that a stencil stands for (the closest point is clamped; docs/contacts.md). A feature is on each side the
 * smallest vertex, edge or triangle that contains the closest point. The basis is the feature's as a contact of its own
 * type, with vertices in canonical order; sides, and what belongs to a side, stay those of the stencil. Derivatives
 * with respect to positions follow the feature. Groups with a tangent_basis are not searched. */
enum fric_closest_features { FRIC_FEATURES_GIVEN, FRIC_FEATURES_SEARCH };

/* All lagged inputs. All pointers are borrowed for the duration of fric_prepare only. */
struct fric_batch {
	int dim; /* 2 or 3 */
	size_t n_vertices;
	const double *positions; /* [n_vertices, dim]; may be NULL if no group derives anything from them */
	struct fric_friction friction;
	struct fric_barrier barrier;
	struct fric_group groups[FRIC_N_TYPES];
	bool skip_degenerate; /* a degenerate contact is skipped instead of causing an error */
	size_t n_bodies;
	const double *body_positions; /* [n_bodies, dim] reference points of the twists */
	enum fric_closest_features closest_features;
	unsigned terms; /* which energies queries may ask for. FRIC_TERM_BARRIER alone: positions, friction, and all fields
	                   of groups except vertices, weight, mollifier and planes are not read */
};

/* Lagged contacts. They own all their memory and never change, so any number of calls may use them concurrently. */
struct fric_contacts;

int fric_stencil_size(enum fric_type type);
int fric_closest_point_size(enum fric_type type);
const char *fric_type_name(enum fric_type type);
/* Name of a skippable code, such as "parallel_edges"; "" for any other. */
const char *fric_reason(enum fric_code code);

/**
 * Computes geometry, normal forces and coefficients of a batch (docs/physics.md 1, 3).
 * @param contacts  set to new lagged contacts on FRIC_OK, to be freed with fric_contacts_free; NULL otherwise
 * @param error     overwritten on failure
 * @return FRIC_OK or the error's code
 * Allocates the contacts and, while it runs, a list of chunks; the contacts' arrays come from memory, the rest from
 * malloc.
 */
enum fric_code fric_prepare(const struct fric_context *context, const struct fric_batch *batch,
                            struct fric_contacts **contacts, struct fric_error *error);
void fric_contacts_free(struct fric_contacts *contacts);

/* The effective coefficients of contacts with mu_s_aniso or mu_k_aniso, chosen for the direction of one slip per
 * contact. Owns its memory and is immutable; contacts may have any number of states at the same time. */
struct fric_state;
/**
 * Chooses the effective coefficients along the slip at given velocities (matchstick model, docs/physics.md 3).
 * @param lagged_velocities  [n_dofs], finite
 * @param state  set to a state for these contacts only, to be freed with fric_state_free; NULL on failure, and if no
 *               contact needs one
 * Allocates the state; its arrays come from memory, the rest from malloc.
 */
enum fric_code fric_state_create(const struct fric_context *context, const struct fric_contacts *contacts,
                                 const double *lagged_velocities, struct fric_state **state, struct fric_error *error);
void fric_state_free(struct fric_state *state);

/* Assigns contacts to threads, and determines which sums each thread leaves to others. It depends only on the stencils
 * and the number of threads. Owns its memory and is immutable. Keep it if you evaluate many gradients: creating it
 * takes 3 % of the time of one gradient if contacts and vertices are in the order of the mesh, and up to half of it if
 * their order is random. */
struct fric_schedule;
/**
 * @param contacts  the schedule is valid for these contacts only. It is made for the number of threads of `context`;
 *                  results are the same with any other number
 * @param schedule  set to a schedule, to be freed with fric_schedule_free; NULL on failure, and if a single thread
 *                  evaluates these contacts
 * Allocates the schedule; its arrays come from memory, the rest from malloc.
 */
enum fric_code fric_schedule_create(const struct fric_context *context, const struct fric_contacts *contacts,
                                    struct fric_schedule **schedule, struct fric_error *error);
void fric_schedule_free(struct fric_schedule *schedule);

/* Where the barrier acts: the closest features and distances of all contacts at the current positions, and the
 * barrier's derivatives there. Owns its memory and is immutable; contacts may have any number of these at the same
 * time. */
struct fric_current;
/**
 * Finds distances at the current positions and evaluates the barrier there.
 * @param contacts   prepared with FRIC_TERM_BARRIER
 * @param positions  [n_vertices, dim], finite; read only by this call
 * @param current    for these contacts only, to be freed with fric_current_free; NULL on failure
 * @return FRIC_OK; FRIC_E_PENETRATION (distance <= dmin), a degeneracy (given features only: an edge without length,
 *         parallel edges, a collapsed triangle) or FRIC_E_NOT_FINITE, with the contact; or another error's code. With
 *         skip_degenerate, contacts that penetrate or are degenerate here are skipped as a whole, friction included
 * Allocates the object; its arrays come from memory, the rest from malloc.
 */
enum fric_code fric_current_create(const struct fric_context *context, const struct fric_contacts *contacts,
                                   const double *positions, struct fric_current **current, struct fric_error *error);
void fric_current_free(struct fric_current *current);
/* The reason why a contact is skipped at the current positions; FRIC_OK if it is not. fric_skipped has the reasons of
 * contacts that were skipped before. */
enum fric_code fric_current_skipped(const struct fric_current *current, enum fric_type type, size_t contact);
size_t fric_current_n_skipped(const struct fric_current *current); /* those that fric_n_skipped does not count */

/* The velocities and the state at which lagged contacts are evaluated. Set unused members to zero: later versions may
 * add members. */
struct fric_query {
	const double *velocities;             /* [n_dofs], finite; not read without the friction term */
	const struct fric_state *state;       /* NULL: contacts use their scalar coefficients */
	const struct fric_schedule *schedule; /* NULL: one is made for each gradient. Not read on one thread */
	unsigned terms;                       /* FRIC_TERM_...: energies that fric_evaluate, fric_hessian_inner,
	                                         fric_hessian_products and fric_compare add up; 0: friction. All other calls
	                                         concern friction alone */
	const struct fric_current *current;   /* required with FRIC_TERM_BARRIER and for its outputs per contact. Contacts
	                                         that it skips have no friction either, whatever the terms */
	double time_step; /* > 0, 0 means 1. Velocities are displacements over it: the barrier's potential is divided by it,
	                     its gradient is a force as it is, its Hessian is multiplied by it */
};

/* Contacts of both terms as contacts prepared for friction alone: inner matrices are as small as these. They are part of
 * `contacts`, and not to be freed. Others are returned as they are. */
const struct fric_contacts *fric_friction_contacts(const struct fric_contacts *contacts);
int fric_dim(const struct fric_contacts *contacts);
size_t fric_n_vertices(const struct fric_contacts *contacts);
size_t fric_n_bodies(const struct fric_contacts *contacts);
size_t fric_n_dofs(const struct fric_contacts *contacts);
size_t fric_n_contacts(const struct fric_contacts *contacts); /* the sum over all groups */
size_t fric_group_size(const struct fric_contacts *contacts, enum fric_type type);
/* The reason why a contact was skipped; FRIC_OK if it was not. */
enum fric_code fric_skipped(const struct fric_contacts *contacts, enum fric_type type, size_t contact);
size_t fric_n_skipped(const struct fric_contacts *contacts);

/**
 * The sum of the potentials of the query's terms and its gradient with respect to velocities; either may be NULL.
 * @param potential  one number: force * velocity; overwritten
 * @param gradient   [n_dofs]: force; for a body, force and the torque about its point; the friction force is its
 *                   negative; overwritten
 * Allocates while it runs: for the gradient a schedule, unless `query` has one, and from memory at most dim doubles
 * per vertex of a contact and 6 per body of a contact; for the potential a few sums from malloc. With both terms also a
 * second gradient, from memory.
 */
enum fric_code fric_evaluate(const struct fric_context *context, const struct fric_contacts *contacts,
                             const struct fric_query *query, double *potential, double *gradient,
                             struct fric_error *error);

/**
 * The potential along a line of velocities and its derivative there, for line searches. Slip is affine in t, so it is
 * gathered once, not at every step.
 * @param query   velocities at t = 0. The effective coefficients of its state hold for every t
 * @param direction  [n_dofs] finite; any unit
 * @param n_steps    may be 0; then nothing is written
 * @param steps      [n_steps] values of t, finite, of any sign and in any order; velocity / unit of the direction
 * @param potential  [n_steps] sum of the potentials at velocities + t * direction; overwritten. At t = 0 it is bitwise
 *                   equal to fric_evaluate
 * @param slope      [n_steps] its derivative with respect to t: the gradient there times the direction; overwritten
 * @return FRIC_OK; FRIC_E_NOT_FINITE if at any step a potential or a slope overflows; or another error's code
 * Allocates two doubles per step and 64 contacts while it runs, from memory.
 */
enum fric_code fric_line(const struct fric_context *context, const struct fric_contacts *contacts,
                         const struct fric_query *query, const double *direction, size_t n_steps, const double *steps,
                         double *potential, double *slope, struct fric_error *error);

/* A step, and what limits it. contact < 0: nothing does, and the step is 1. */
struct fric_step {
	double step;
	enum fric_type group;
	int64_t contact;
};
/**
 * How far contacts can move: a step t in [0, 1] such that from positions to positions + t * direction every contact's
 * distance - dmin stays >= keep times what it is at the start. Distances are those of the two primitives of a stencil
 * (closest points are clamped, whatever the batch's closest_features). Positions + t * direction in doubles, for the
 * step or less, change a distance by up to r, the sum of both sides' 2^-52 (largest coordinate + 2 t largest component
 * of the direction) of the vertices that move: so distance - dmin also stays >= 16 r of t = 0, or nearly all it is if
 * that is less, and always >= 2 r, and is > 0 when positions are rounded. Conservative: the largest such t is larger by
 * at most a thousandth, if it is not limited by a distance that touches the limit within rounding. It is 0 if a contact
 * that moves begins with less than 2 r.
 * @param contacts   prepared with FRIC_TERM_BARRIER; contacts that were skipped count, too
 * @param positions  [n_vertices, dim], finite
 * @param direction  [n_vertices, dim], finite
 * @param keep       > 0, < 1
 * @param step       overwritten on FRIC_OK; of contacts that allow equal steps, the first
 * @return FRIC_OK; FRIC_E_PENETRATION with the first contact whose distance is <= dmin at the start, which
 *         skip_degenerate leaves out instead; or another error's code
 * Allocates one step per 1024 contacts from memory while it runs.
 */
enum fric_code fric_longest_step(const struct fric_context *context, const struct fric_contacts *contacts,
                                 const double *positions, const double *direction, double keep, struct fric_step *step,
                                 struct fric_error *error);

/* A mesh: which primitives may touch. All pointers are borrowed for the duration of fric_mesh_create. A face has three
 * different vertices, an edge two; faces and edges that stand twice count once. */
struct fric_surface {
	int dim; /* 2 or 3 */
	size_t n_vertices;
	size_t n_faces;
	const int32_t *faces; /* [n_faces, 3] 3D; their edges are derived */
	size_t n_edges;
	const int32_t *edges; /* [n_edges, 2] 2D: the boundary; 3D: edges that may belong to no face (rods) */
	size_t n_particles;
	const int32_t *particles; /* [n_particles] vertices of no edge and no face */
	size_t n_planes;
	const double *plane_normals, *plane_origins; /* [n_planes, dim] not zero, any length */
	const int32_t *body;                         /* [n_vertices] labels >= 0; NULL: no labels */
	size_t n_ignored;
	const int32_t *ignored; /* [n_ignored, 2] pairs of labels that never touch; [a, a]: not with itself */
	size_t n_fixed;
	const int32_t *fixed;         /* [n_fixed] vertices that do not move */
	const double *rest_positions; /* [n_vertices, dim] for weights by area and mollifiers; NULL: the positions */
};

/* The primitives of a surface and its filters. Owns its memory and is immutable.
 *
 * Its pairs: in 3D every face with every vertex that is not its own, every edge with every edge without a common end,
 * particles with each other and with edges of no face; in 2D every edge with every vertex that is not its own, particles
 * with each other; every vertex with every plane. Vertices that nothing mentions are in no pair. A pair is left out if
 * every two of its vertices, one of each side, are both fixed or have labels that ignore each other; with planes, if
 * the vertex is fixed. */
struct fric_mesh;
/**
 * @param mesh  set to a new mesh on FRIC_OK, to be freed with fric_mesh_free; NULL otherwise
 * Allocates the mesh and, while it runs, lists of edges, from memory.
 */
enum fric_code fric_mesh_create(const struct fric_context *context, const struct fric_surface *surface,
                                struct fric_mesh **mesh, struct fric_error *error);
void fric_mesh_free(struct fric_mesh *mesh);
size_t fric_mesh_n_rods(const struct fric_mesh *mesh); /* edges that belong to no face, in 3D */

enum fric_weighting {
	FRIC_WEIGHT_COUNT, /* every pair counts 1 */
	FRIC_WEIGHT_AREA,  /* the share of the rest surface that a pair stands for; meshes without rods and particles */
};

/* Which pairs fric_find returns. */
struct fric_finding {
	double distance;     /* > 0: pairs closer than distance + min_distance */
	double min_distance; /* >= 0 */
	enum fric_weighting weighting;
	/* Pairs become contacts of their closest features, and equal ones are merged. Otherwise they stay the pairs
	 * themselves, for FRIC_FEATURES_SEARCH, each with a mollifier. */
	bool merge;
	size_t most; /* pairs, before equal contacts are merged; 0: no limit */
};

/* Contacts that were found. They own their memory and are immutable. */
struct fric_found;
/* The contacts of one type, sorted by plane, then by vertices. Stencils are in canonical order: vertex_vertex (lower,
 * higher), edge_vertex (v, lower, higher), edge_edge each edge (lower, higher) and the edge that is lower in lexical
 * order first, face_vertex (v, the face as it was given). */
struct fric_found_group {
	size_t n;
	const int32_t *vertices; /* [n, stencil's size] */
	const double *weight;    /* [n] of equal contacts: the sum */
	/* [n] length^4, edge_edge only: 1e-3 |a|^2 |b|^2 of the rest positions for an edge_edge contact whose feature is
	 * not taken because its edges are nearly parallel (|a x b|^2 below that), otherwise 0; unmerged: of every pair */
	const double *mollifier;
	const int32_t *plane;   /* [n] plane_vertex only: a row of plane_normals; of candidates: a contact of the group */
	const double *distance; /* [n] of the feature; mollified or unmerged: of the primitives */
};

/**
 * Finds the pairs of a mesh that are close. The result does not depend on the number of threads.
 * @param positions  [n_vertices, dim], finite
 * @param found      set to the contacts on FRIC_OK, to be freed with fric_found_free; NULL otherwise
 * @return FRIC_OK; FRIC_E_NOT_FINITE if a distance or area does not fit a double; FRIC_E_TOO_MANY, as soon as more than
 *         finding->most pairs are found; or another error's code
 * Takes some n log n. Allocates the contacts, and boxes of faces and edges while it runs, from memory: less than 200
 * bytes per primitive beside the contacts and the pairs that are merged.
 */
enum fric_code fric_find(const struct fric_context *context, const struct fric_mesh *mesh, const double *positions,
                         const struct fric_finding *finding, struct fric_found **found, struct fric_error *error);
/**
 * As fric_find, of pairs that the caller has: the primitives of stencils. Pairs that stand twice count once.
 * @param groups  vertices, and plane_normal and plane_origin; all other fields are ignored. No bodies
 * @return as fric_find
 * Allocates the contacts and, while it runs, lists of the pairs, from memory.
 */
enum fric_code fric_find_candidates(const struct fric_context *context, int dim, size_t n_vertices,
                                    const double *positions, const struct fric_group groups[FRIC_N_VERTEX_TYPES],
                                    const struct fric_finding *finding, struct fric_found **found,
                                    struct fric_error *error);
struct fric_found_group fric_found_of(const struct fric_found *found, enum fric_type type);
double fric_found_min_distance(const struct fric_found *found); /* the least distance; infinity without contacts */
void fric_found_free(struct fric_found *found);

/* A step of a mesh, and the pair that limits it. */
struct fric_mesh_step {
	double step;
	enum fric_type group;
	int32_t vertices[FRIC_MAX_STENCIL]; /* in canonical order; vertices[0] < 0: nothing limits the step, which is 1 */
	int32_t plane;                      /* plane_vertex only: a row of plane_normals; otherwise -1 */
};
/**
 * As fric_longest_step, of all pairs of a mesh, however far apart.
 * @param min_distance  >= 0, in place of a barrier's dmin
 * @return FRIC_OK; FRIC_E_PENETRATION if some pair's distance is <= min_distance at the start, with step->vertices and
 *         step->group of the first such pair in the order of types and vertices; or another error's code
 * Allocates boxes of faces and edges from memory while it runs.
 */
enum fric_code fric_mesh_longest_step(const struct fric_context *context, const struct fric_mesh *mesh,
                                      const double *positions, const double *direction, double min_distance,
                                      double keep, struct fric_mesh_step *step, struct fric_error *error);

/**
 * Hands anchors of old contacts over to new ones (docs/contacts.md): that of the same stencil, in whatever order its
 * vertices stand; otherwise of the nearest old contact with a vertex in common on each side, where the place of a
 * contact is the closest point on its first side, clamped; otherwise 0. A contact whose sides are exchanged hands over
 * the opposite. A plane contact takes the anchor of the same vertex: of several, that of the equal plane, or else the
 * first.
 * @param positions  [n_vertices, dim] at which places are compared: the new ones; finite
 * @param old        n, vertices, anchor (absent: 0), plane_normal, plane_origin; all other fields are ignored. Of equal
 *                   stencils, and of equally near contacts, the first hands over its anchor
 * @param groups     the new contacts: n, vertices, plane_normal, plane_origin
 * @param anchors    [FRIC_N_VERTEX_TYPES] arrays [n, dim]; overwritten; of empty groups NULL
 * @return FRIC_OK, FRIC_E_MEMORY or FRIC_E_STOPPED
 * Takes some n log n, however many contacts a vertex has. Allocates lists of old contacts by vertex from memory while
 * it runs: up to 64 bytes per contact and 16 per vertex, and 160 per edge_edge contact of vertices with so many edges
 * that more than 64 such contacts share two vertices.
 */
enum fric_code fric_carry_anchors(const struct fric_context *context, int dim, size_t n_vertices,
                                  const double *positions, const struct fric_group old[FRIC_N_VERTEX_TYPES],
                                  const struct fric_group groups[FRIC_N_VERTEX_TYPES],
                                  double *const anchors[FRIC_N_VERTEX_TYPES], struct fric_error *error);

/* Outputs per contact, with these rows; skipped contacts give zeros (status: 2), mollified ones too, except feature and
 * distance. */
enum fric_output {
	FRIC_OUT_POTENTIAL,           /* [n] including weight and normal force */
	FRIC_OUT_TANGENTIAL_VELOCITY, /* [n, dim-1] including surface velocity and anchor, before mu_aniso scaling */
	FRIC_OUT_MU_S,                /* [n] effective coefficients */
	FRIC_OUT_MU_K,                /* [n] */
	FRIC_OUT_NORMAL_FORCE,        /* [n] without weight */
	FRIC_OUT_DISTANCE,            /* [n] unsigned; only if fric_has_output */
	FRIC_OUT_CLOSEST_POINT,       /* [n, m], m > 0 */
	FRIC_OUT_TANGENT_BASIS,       /* [n, dim, dim-1] */
	FRIC_OUT_STATUS,              /* [n] 0 sticks, 1 slides, 2 skipped, 3 mollified: has no friction */
	FRIC_OUT_SLIP_RATIO,          /* [n] |u| / eps_v, after mu_aniso scaling; bodies: |S| / eps_v */
	FRIC_OUT_FRICTION_FORCE,      /* [n, dim] on the first side, distributed by the stencil weights */
	FRIC_OUT_ANCHOR,              /* [n, dim] velocity: the anchor of the next step */
	FRIC_OUT_SPIN,    /* [n] bodies in 3D: angular velocity about the normal, without the factor spin_radius */
	FRIC_OUT_ROLLING, /* [n, dim-1] bodies: P^T (angular velocity), 2D: angular velocity; without roll_radius */
	FRIC_OUT_FEATURE, /* [n] closest feature: bit k is set if member k of the stencil takes part. Given: all members */
	/* The following need a fric_query.current, and contacts prepared with FRIC_TERM_BARRIER. */
	FRIC_OUT_CURRENT_FEATURE,   /* [n] as FRIC_OUT_FEATURE, at the current positions */
	FRIC_OUT_CURRENT_DISTANCE,  /* [n] unsigned, at the current positions */
	FRIC_OUT_BARRIER_POTENTIAL, /* [n] the contact's share of the barrier's potential, divided by time_step */
	FRIC_OUT_BARRIER_FORCE,     /* [n, dim] on the first side, including weight */
	/* [n, dim] unit normal of the tangent basis, with the sign of docs/physics.md 1; not of groups with a given basis */
	FRIC_OUT_NORMAL,
};
#define FRIC_N_OUTPUTS 20
bool fric_has_output(const struct fric_contacts *contacts, enum fric_type type, enum fric_output output);
/**
 * Computes one output of one group.
 * @param out  rows of all contacts of the group; overwritten
 * Allocates nothing.
 */
enum fric_code fric_contact_output(const struct fric_context *context, const struct fric_contacts *contacts,
                                   const struct fric_query *query, enum fric_type type, enum fric_output output,
                                   double *out, struct fric_error *error);

/* Number of entries of a contact's inner matrix: 3 in 3D (a00, a01, a11), 1 in 2D. For bodies 15 and 3: the upper
 * triangle of a 5 x 5 or 2 x 2 matrix, row by row. fric_n_inner is the total of all contacts. With contacts prepared
 * for FRIC_TERM_BARRIER it is larger: the sum of a friction block and a barrier block is not determined by w, P and
 * A. */
int fric_inner_size(int dim);
int fric_body_inner_size(int dim);
size_t fric_n_inner(const struct fric_contacts *contacts);
/**
 * The Hessian in factors: a contact's block is (w (x) P) A (w (x) P)^T, where A includes projection and velocity
 * scaling. For bodies it is J^T A J, with mu_aniso and the radii in J, not in A. Projection works on each contact's
 * friction block and barrier block by itself.
 * @param inner  [fric_n_inner] A of every contact in order; overwritten. If the query has the barrier term, it has
 *               whole blocks of the sum of all terms instead, in a form that only triplets, csr and bsr read
 * Allocates nothing. With both terms: friction's inner matrices while it runs, from memory.
 */
enum fric_code fric_hessian_inner(const struct fric_context *context, const struct fric_contacts *contacts,
                                  const struct fric_query *query, enum fric_projection projection, double *inner,
                                  struct fric_error *error);
/* Rows of the factors of each group, in the order of its contacts. Pointers of empty groups may be NULL. */
struct fric_factors {
	double *weights[FRIC_N_TYPES];       /* [n, k] w; zeros for a skipped contact */
	double *tangent_basis[FRIC_N_TYPES]; /* [n, dim, dim-1] P */
	double *inner[FRIC_N_TYPES];         /* [n, inner_size] A; bodies: [n, body_inner_size] */
	double *jacobian[FRIC_N_TYPES]; /* for bodies, in place of weights and bases: J, [n, 5, k*6], in 2D [n, 2, k*3];
	                                   zeros for a skipped contact */
};
/**
 * Computes all factors of all groups in one pass.
 * @param factors  the arrays that it points to are overwritten
 * Allocates nothing.
 */
enum fric_code fric_hessian_factors(const struct fric_context *context, const struct fric_contacts *contacts,
                                    const struct fric_query *query, enum fric_projection projection,
                                    const struct fric_factors *factors, struct fric_error *error);
/* The stencil weights w of a group at vertices, [n, k]; zeros for a skipped contact. Allocates nothing. */
enum fric_code fric_stencil_weights(const struct fric_context *context, const struct fric_contacts *contacts,
                                    enum fric_type type, double *weights, struct fric_error *error);

/**
 * The Hessian times vectors, from the contacts' inner matrices, without forming the matrix.
 * @param n_vectors  may be 0; then nothing is written
 * @param vectors    [n_vectors, n_dofs] finite
 * @param products   [n_vectors, n_dofs]; overwritten; must not overlap the vectors
 * @return FRIC_OK; FRIC_E_NOT_FINITE if an inner matrix or a product overflows; or another error's code
 * Allocates while it runs, from memory: a schedule, unless `query` has one, inner matrices, at most dim doubles per
 * vertex of a contact or 8 MiB, and 6 doubles per body of a contact. With the barrier, whole blocks instead of inner
 * matrices.
 */
enum fric_code fric_hessian_products(const struct fric_context *context, const struct fric_contacts *contacts,
                                     const struct fric_query *query, enum fric_projection projection, size_t n_vectors,
                                     const double *vectors, double *products, struct fric_error *error);

size_t fric_n_triplets(const struct fric_contacts *contacts, enum fric_triangle triangle);
/**
 * Triplets: every contact's whole local block (or its triangle by global row and column), in contact order; duplicates
 * add up. The pattern depends on the stencils only.
 * @param inner  [fric_n_inner] from fric_hessian_inner
 * @param rows, cols  [fric_n_triplets]; overwritten. Both may be NULL if the caller already has them
 * @param values      [fric_n_triplets]; overwritten
 * Allocates nothing.
 */
enum fric_code fric_hessian_triplets(const struct fric_context *context, const struct fric_contacts *contacts,
                                     const double *inner, enum fric_triangle triangle, int32_t *rows, int32_t *cols,
                                     double *values, struct fric_error *error);

/* The CSR pattern of a set of contacts: columns sorted, duplicates merged; depends on the stencils only. Owns its
 * memory. */
struct fric_pattern;
/**
 * @param pattern  set to a new pattern on FRIC_OK, to be freed with fric_pattern_free; NULL otherwise
 * Allocates the pattern and, while it runs, lists of neighbours; the pattern's arrays come from memory, the rest from
 * malloc.
 */
enum fric_code fric_pattern_create(const struct fric_context *context, const struct fric_contacts *contacts,
                                   enum fric_triangle triangle, struct fric_pattern **pattern,
                                   struct fric_error *error);
void fric_pattern_free(struct fric_pattern *pattern);
size_t fric_pattern_n_rows(const struct fric_pattern *pattern);
size_t fric_pattern_n_entries(const struct fric_pattern *pattern);
const int64_t *fric_pattern_indptr(const struct fric_pattern *pattern);  /* [n_rows + 1] */
const int32_t *fric_pattern_indices(const struct fric_pattern *pattern); /* [n_entries] */
/**
 * Computes the values of the CSR Hessian.
 * @param pattern  made from the same contacts
 * @param data     [n_entries]; overwritten
 * Allocates the contacts' contributions to the matrix, and room for wide rows, from memory, while it runs.
 */
enum fric_code fric_hessian_csr(const struct fric_context *context, const struct fric_contacts *contacts,
                                const double *inner, const struct fric_pattern *pattern, double *data,
                                struct fric_error *error);

/* The same matrix in block rows (BSR): a dim x dim block for each pair of vertices. In a triangle, diagonal blocks are
 * complete. The rows of bodies are left out, so use it only for contacts without bodies. */
size_t fric_pattern_n_blocks(const struct fric_pattern *pattern);
/**
 * @param indptr   [n_vertices + 1] start of each vertex's blocks; overwritten
 * @param indices  [fric_pattern_n_blocks] block columns: vertices, ascending within a row; overwritten. NULL: not
 *                 wanted
 * Allocates nothing.
 */
enum fric_code fric_pattern_blocks(const struct fric_context *context, const struct fric_pattern *pattern,
                                   int64_t *indptr, int32_t *indices, struct fric_error *error);
/**
 * Computes the values of the Hessian in block rows, bitwise equal to fric_hessian_csr.
 * @param pattern  made from the same contacts
 * @param indptr   [n_vertices + 1] from fric_pattern_blocks
 * @param data     [fric_pattern_n_blocks, dim, dim]; overwritten
 * Allocates the contacts' contributions to the matrix, and room for wide rows, from memory, while it runs.
 */
enum fric_code fric_hessian_bsr(const struct fric_context *context, const struct fric_contacts *contacts,
                                const double *inner, const struct fric_pattern *pattern, const int64_t *indptr,
                                double *data, struct fric_error *error);

/* Derivatives of potential and gradient with respect to their inputs (docs/derivatives.md): the fields of a batch or of
 * a query. Derivatives have the shape of the field. */
enum fric_field {
	FRIC_WRT_VELOCITIES,        /* [n_dofs] */
	FRIC_WRT_LAGGED_VELOCITIES, /* [n_dofs] fric_derivation.slip_velocities, if directions depend on them */
	FRIC_WRT_POSITIONS,         /* [n_vertices, dim] */
	FRIC_WRT_BODY_POSITIONS,    /* [n_bodies, dim] */
	FRIC_WRT_EPS_V,             /* one number: friction.eps_v */
	FRIC_WRT_MU_S,              /* one number: friction.mu_s */
	FRIC_WRT_MU_K,
	FRIC_WRT_VERTEX_MU_S, /* [n_vertices] */
	FRIC_WRT_VERTEX_MU_K,
	FRIC_WRT_MATERIAL_MU_S, /* [n_materials, n_materials] symmetric tangents; each half has its own cotangent */
	FRIC_WRT_MATERIAL_MU_K,
	FRIC_WRT_STRIBECK_SPEED, /* one number: friction.law.stribeck_speed */
	FRIC_WRT_VISCOUS,        /* one number: friction.law.viscous */
	FRIC_WRT_CURVE_FACTORS,  /* [curve.n]; the first factor is 1 but may have a tangent */
	FRIC_WRT_DHAT,           /* one number each: fric_batch.barrier */
	FRIC_WRT_STIFFNESS,
	FRIC_WRT_DMIN
};
#define FRIC_N_FIELDS 17

/* The fields of a group, likewise: rows as in the batch, [n, width], or one row [width] for all contacts where the
 * group's stride is 0. */
enum fric_row {
	FRIC_ROW_NORMAL_FORCE,
	FRIC_ROW_WEIGHT,
	FRIC_ROW_MU_S,
	FRIC_ROW_MU_K,
	FRIC_ROW_EPS_V,
	FRIC_ROW_MU_ANISO,      /* width dim-1 */
	FRIC_ROW_MU_S_ANISO,    /* 2 */
	FRIC_ROW_MU_K_ANISO,    /* 2 */
	FRIC_ROW_TANGENT_BASIS, /* dim*(dim-1) */
	FRIC_ROW_CLOSEST_POINT, /* m */
	FRIC_ROW_PLANE_NORMAL,  /* dim */
	FRIC_ROW_PLANE_ORIGIN,  /* dim */
	FRIC_ROW_STRIBECK_SPEED,
	FRIC_ROW_VISCOUS,
	FRIC_ROW_SURFACE_VELOCITY, /* dim */
	FRIC_ROW_ANCHOR,           /* dim */
	FRIC_ROW_GRAIN,            /* 3 */
	FRIC_ROW_POINT,            /* dim */
	FRIC_ROW_NORMAL,           /* dim */
	FRIC_ROW_SPIN_RADIUS,
	FRIC_ROW_ROLL_RADIUS
};
#define FRIC_N_ROWS 21

/* One array for each of some fields: tangents, which are read, or cotangents, which are overwritten. NULL means that
 * the tangent is zero, or that the cotangent is not wanted. Set only fields that the batch has, and rows only of groups
 * that have contacts and whose data is not NULL. */
struct fric_differential {
	double *fields[FRIC_N_FIELDS];
	double *rows[FRIC_N_TYPES][FRIC_N_ROWS];
};

/* The function to be differentiated: potential and gradient of contacts, as a function of the batch that the contacts
 * were prepared from. All pointers are borrowed. */
struct fric_derivation {
	const struct fric_batch *batch; /* the one that `contacts` were prepared from */
	const struct fric_contacts *contacts;
	const struct fric_query *query;
	const double *slip_velocities;       /* [n_dofs] passed to fric_state_create; NULL without a state */
	bool vertices_follow, bodies_follow; /* whether the directions of effective coefficients, at vertices and of bodies,
	                                        depend on slip_velocities and on every other input of the slip there; if
	                                        not, they are constants */
};

/**
 * Potential and gradient, and their derivatives along tangents.
 * @param potential, gradient                  one number and [n_dofs], as from fric_evaluate; overwritten
 * @param potential_tangent, gradient_tangent  the same shapes; overwritten
 * @return FRIC_OK, FRIC_E_NOT_FINITE if a result overflows, or another error's code. At a knot of a piecewise
 *         definition the right-hand derivative is used; skipped contacts give zero
 * Allocates while it runs, from memory: a schedule, unless `query` has one, and some columns of numbers per contact;
 * and from malloc what fric_evaluate allocates.
 */
enum fric_code fric_jvp(const struct fric_context *context, const struct fric_derivation *derivation,
                        const struct fric_differential *tangents, double *potential, double *gradient,
                        double *potential_tangent, double *gradient_tangent, struct fric_error *error);

/**
 * Potential and gradient, and the derivative of potential_cotangent * potential + gradient_cotangent . gradient with
 * respect to every entry of some fields, in one pass over the contacts.
 * @param gradient_cotangent  [n_dofs] finite; NULL: zeros
 * @param cotangents          its arrays are overwritten; on FRIC_E_NOT_FINITE without a contact, entries that do not
 *                            fit a double are not finite
 * Allocates while it runs what fric_jvp allocates, from memory and from malloc.
 */
enum fric_code fric_vjp(const struct fric_context *context, const struct fric_derivation *derivation,
                        double potential_cotangent, const double *gradient_cotangent, double *potential,
                        double *gradient, const struct fric_differential *cotangents, struct fric_error *error);

/* Whether fric_second_derivative_product supports a field or a row. */
bool fric_has_second(enum fric_field field);
bool fric_row_has_second(enum fric_row row);
/**
 * The derivative along tangents of the result of fric_vjp with potential cotangent 1: a product with the second
 * derivatives of the potential. Supports velocities, eps_v, coefficients (scalar, at vertices, of materials, of
 * groups), and normal forces and weights of groups; all other pointers must be NULL.
 * Allocates while it runs, from memory: a schedule, unless `query` has one, and some columns of numbers per contact.
 */
enum fric_code fric_second_derivative_product(const struct fric_context *context,
                                              const struct fric_derivation *derivation,
                                              const struct fric_differential *tangents,
                                              const struct fric_differential *cotangents, struct fric_error *error);

/* The Jacobian of the gradient with respect to positions, [n_dofs, n_vertices * dim], not symmetric; the rows of bodies
 * are empty. It has triplets for contacts at vertices only, in the order of fric_hessian_triplets (FRIC_FULL). */
size_t fric_n_jacobian_triplets(const struct fric_contacts *contacts);
/**
 * Computes the triplets of this Jacobian.
 * @param rows, cols  [fric_n_jacobian_triplets]; overwritten. Both may be NULL if the caller already has them
 * @param values      [fric_n_jacobian_triplets]; overwritten
 * Allocates nothing.
 */
enum fric_code fric_position_jacobian_triplets(const struct fric_context *context,
                                               const struct fric_derivation *derivation, int32_t *rows, int32_t *cols,
                                               double *values, struct fric_error *error);
/**
 * The CSR pattern of this Jacobian, which depends on the stencils only.
 * @param pattern  set to a new pattern on FRIC_OK, to be freed with fric_pattern_free; NULL otherwise
 * Allocates the pattern and, while it runs, lists of neighbours; the pattern's arrays come from memory, the rest from
 * malloc.
 */
enum fric_code fric_jacobian_pattern_create(const struct fric_context *context, const struct fric_contacts *contacts,
                                            struct fric_pattern **pattern, struct fric_error *error);
/**
 * Computes the values of this Jacobian in CSR rows.
 * @param pattern  from fric_jacobian_pattern_create
 * @param data     [fric_pattern_n_entries]; overwritten
 * Allocates the contacts' contributions to the matrix, and room for wide rows, from memory, while it runs.
 */
enum fric_code fric_position_jacobian_csr(const struct fric_context *context, const struct fric_derivation *derivation,
                                          const struct fric_pattern *pattern, double *data, struct fric_error *error);

/* The quantities that fric_compare compares with central differences. */
enum fric_quantity { FRIC_POTENTIAL, FRIC_GRADIENT, FRIC_HESSIAN };
#define FRIC_N_QUANTITIES 3
#define FRIC_TOLERANCE 1e-8 /* see docs/check.md */

/* The agreement of one quantity. All numbers are finite: larger values are replaced by the largest double. */
struct fric_agreement {
	double largest_difference; /* between potentials, entries of the gradient, or entries of contacts' blocks */
	double largest_entry;      /* largest absolute value of the numbers compared */
	double contacts;           /* largest relative difference of one contact, relative to its own scale */
	double assembled;          /* largest relative difference of the sums over contacts */
};

struct fric_comparison {
	bool agrees; /* all relative differences are within FRIC_TOLERANCE */
	struct fric_agreement of[FRIC_N_QUANTITIES];
	/* The contact that agrees least; worst < 0 and the rest zero if there are no contacts. */
	int64_t worst;
	enum fric_type group;
	int32_t vertices[FRIC_MAX_STENCIL]; /* its stencil, or its bodies; 0 beyond its size */
	enum fric_quantity quantity;
	double relative_difference;
	int status;        /* 0 sticks, 1 slides, 2 skipped, 3 mollified */
	double slip_ratio; /* |u| / eps_v, after mu_aniso scaling; bodies: |S| / eps_v */
};

/**
 * Compares potential, gradient and Hessian (no projection; inner matrices, triplets, csr) of the query's terms, as the
 * calls above return them, with the potentials' plain formulas in 113-bit arithmetic and their central differences with
 * respect to velocities. For the barrier, a change of velocities moves the current positions by time_step times it.
 * Takes some 10 us per contact, with the barrier 150 us.
 * @param comparison  overwritten on FRIC_OK
 * @return FRIC_OK whether or not they agree; otherwise the code of the call above that failed
 * Allocates all these results except the triplets while it runs, from memory; and from malloc what those calls
 * allocate.
 */
enum fric_code fric_compare(const struct fric_context *context, const struct fric_contacts *contacts,
                            const struct fric_query *query, struct fric_comparison *comparison,
                            struct fric_error *error);

#define FRIC_DERIVATIVE_TOLERANCE 1e-7 /* for differences of results; see docs/check.md */
#define FRIC_TRANSPOSE_TOLERANCE 1e-9  /* for products of cotangents and tangents */

/* The agreement of derivatives along one direction, as finite relative differences. A value < 0 was not compared: all
 * three if a derivative does not fit a double even along a shortened direction, `transposed` if a cotangent does
 * not. */
struct fric_derivative_agreement {
	bool agrees;                /* everything that was compared is within its tolerance */
	double potential, gradient; /* fric_jvp against differences of results; for the gradient, the largest difference */
	double transposed;          /* fric_vjp . direction against cotangents . fric_jvp */
	/* The contact at whose members gradients differ most on average; worst < 0 if there are no contacts. */
	int64_t worst;
	enum fric_type group;
};

/**
 * Compares fric_jvp with differences of fric_prepare, fric_state_create and fric_evaluate along a direction, and
 * fric_vjp with fric_jvp. The direction consists of pseudorandom numbers of either sign, as large as the entries of the
 * field that it changes. For fields with a sign and for coefficients they are proportional to the entries, so that
 * zeros stay zero. The direction is shortened where derivatives along it do not fit a double.
 * @param direction  the fields to change: factors from 0 to 1 for the direction's entries; overwritten with the
 *                   direction
 * @param agreement  overwritten on FRIC_OK
 * @return FRIC_OK whether or not they agree; otherwise the code of fric_evaluate, fric_jvp or fric_vjp
 * Takes as long as up to 80 evaluations, preparation included. Allocates contacts and some arrays while it runs, from
 * memory; and from malloc what those calls allocate.
 */
enum fric_code fric_compare_derivative(const struct fric_context *context, const struct fric_derivation *derivation,
                                       const struct fric_differential *direction,
                                       struct fric_derivative_agreement *agreement, struct fric_error *error);

#ifdef __cplusplus
}
#endif

#endif
