/**
 * The fields of requests: X(place, name, rule ...) makes a place in an enum of fields.h and a rule in the table of its
 * object, which also defines the words, objects and kinds of requests that rules name.
 */
#ifndef API_LISTS_H
#define API_LISTS_H

/* clang-format off */
#define API_PLACE(place, ...) place,
#define API_NO_PLACE(...)

#define API_REQUEST_FIELDS(X) \
	X(API_REQUEST_DIM, "dim", .kind = API_INTEGER, .least = 2, .most = 3, .required = true, .types = LAGGED, \
	  .meaning = "dimension") \
	X(API_REQUEST_N_VERTICES, "n_vertices", .kind = API_INTEGER, .types = DOCUMENTS, \
	  .meaning = "number of vertices; by default the rows of positions, or else of the first field with a row per" \
	  " vertex, or else 0. Must agree with them") \
	X(API_REQUEST_VELOCITIES, "velocities", BY(VELOCITIES), .kind = API_REALS, .shape = {API_N_VERTICES, API_DIM}, \
	  .types = ASKED, .unit = VELOCITY, .meaning = "velocities at which to evaluate; their number of rows is the" \
	  " number of vertices; required unless there are only bodies or terms is barrier alone") \
	X(API_REQUEST_POSITIONS, "positions", BY(POSITIONS), .kind = API_REALS, .types = LAGGED | ADVANCED, \
	  .shape = {API_N_VERTICES, API_DIM}, .unit = LENGTH, \
	  .meaning = "lagged positions; required where geometry is derived") \
	X(API_REQUEST_LAGGED_VELOCITIES, "lagged_velocities", BY(LAGGED_VELOCITIES), .kind = API_REALS, \
	  .shape = {API_N_VERTICES, API_DIM}, .unit = VELOCITY, \
	  .meaning = "determine the direction of slip for mu_s_aniso and mu_k_aniso; by default velocities") \
	X(API_REQUEST_BODY_POSITIONS, "body_positions", BY(BODY_POSITIONS), .kind = API_REALS, .types = LAGGED | ADVANCED, \
	  .shape = {API_N_BODIES, API_DIM}, .unit = LENGTH, \
	  .meaning = "points that the twists of rigid bodies refer to; their number of rows is the number of bodies") \
	X(API_REQUEST_BODY_VELOCITIES, "body_velocities", BY(VELOCITIES), .kind = API_REALS, .types = ASKED, \
	  .shape = {API_N_BODIES, API_TWIST}, .unit = VELOCITY, \
	  .meaning = "twists: velocity of the point, then angular velocity (velocity / length; in 2D one number)") \
	X(API_REQUEST_LAGGED_BODY_VELOCITIES, "lagged_body_velocities", BY(LAGGED_VELOCITIES), .kind = API_REALS, \
	  .shape = {API_N_BODIES, API_TWIST}, .unit = VELOCITY, \
	  .meaning = "as lagged_velocities, for bodies; by default body_velocities") \
	X(API_REQUEST_FRICTION, "friction", .kind = API_OBJECT, .types = LAGGED, .objects = ONE(api_friction), \
	  .meaning = "coefficients and eps_v of groups without their own") \
	X(API_REQUEST_BARRIER, "barrier", .kind = API_OBJECT, .types = LAGGED, .objects = ONE(api_barrier), \
	  .meaning = "normal force of groups without their own") \
	X(API_REQUEST_COLLISIONS, "collisions", .kind = API_OBJECT, .types = LAGGED & ~BIT(API_MESH_DOCUMENT), \
	  .objects = ONE(api_collisions), .required = true, .meaning = "the contacts") \
	X(API_REQUEST_OUTPUTS, "outputs", .kind = API_WORDS, .types = EVALUATED, .words = outputs, \
	  .fallback = "['potential', 'gradient', 'hessian']", .meaning = "results to return") \
	X(API_REQUEST_HESSIAN, "hessian", .kind = API_OBJECT, .types = EVALUATED, .objects = ONE(api_hessian), \
	  .meaning = "format of the returned Hessian") \
	X(API_REQUEST_COLLISION_OUTPUTS, "collision_outputs", .kind = API_WORDS, .types = EVALUATED, \
	  .words = api_collision_output_names, .meanings = api_collision_output_meanings, \
	  .fallback = "['potential', 'tangential_velocity']", \
	  .meaning = "values per contact in the output collisions; refused without that output") \
	X(API_REQUEST_ON_DEGENERATE, "on_degenerate", .kind = API_WORD, .types = LAGGED, .words = reactions, \
	  .meanings = reaction_meanings, \
	  .meaning = "treatment of degenerate geometry, penetration and negative coefficients") \
	X(API_REQUEST_LINE, "line", .kind = API_OBJECT, .types = EVALUATED, .objects = ONE(api_line), \
	  .meaning = "the line for the output line, which requires it") \
	X(API_REQUEST_VECTORS, "vectors", .kind = API_REALS, .types = EVALUATED, .shape = {API_N_VECTORS, API_N_DOFS}, \
	  .meaning = "vectors for the output hessian_products, which requires them; at most 256") \
	X(API_REQUEST_POSITION_JACOBIAN, "position_jacobian", .kind = API_OBJECT, .types = EVALUATED, \
	  .objects = ONE(api_position_jacobian), .meaning = "format of the output position_jacobian") \
	X(API_REQUEST_TERMS, "terms", .kind = API_WORDS, .types = EVALUATED, .words = terms, .meanings = term_meanings, \
	  .fallback = "['friction']", .meaning = "energies that potential, gradient, Hessian and its products sum up, at" \
	  " least one; a barrier excludes bodies, given geometry and normal_force, and with it alone velocities and friction" \
	  " are optional") \
	X(API_REQUEST_CURRENT_POSITIONS, "current_positions", .kind = API_REALS, .types = EVALUATED, \
	  .shape = {API_N_VERTICES, API_DIM}, .unit = LENGTH, \
	  .meaning = "positions at which the barrier acts, and where longest_step begins; by default positions") \
	X(API_REQUEST_TIME_STEP, "time_step", .kind = API_NUMBER, .range = API_POSITIVE, .types = EVALUATED, \
	  .unit = "length / velocity", .fallback = "1", .meaning = "velocities are displacements over it: the barrier's" \
	  " potential is divided by it, its Hessian multiplied") \
	X(API_REQUEST_CLOSEST_FEATURES, "closest_features", .kind = API_WORD, .types = LAGGED, .words = searches, \
	  .meanings = search_meanings, .meaning = "what determines the closest points of contacts at vertices") \
	X(API_REQUEST_LONGEST_STEP, "longest_step", .kind = API_OBJECT, .types = EVALUATED, \
	  .objects = ONE(api_longest_step), .meaning = "the direction for the output longest_step, which requires it") \
	X(API_REQUEST_CLAIMS, "claims", .kind = API_OBJECT, .types = FOR_CHECK, .objects = ONE(api_claims), \
	  .meaning = "somebody else's results for this request, to be compared with the service's") \
	X(API_REQUEST_TANGENTS, "tangents", .kind = API_BY_POINTER, .types = FOR_JVP, .required = true, \
	  .meaning = "the direction: JSON Pointers (RFC 6901) to fields as keys, with values of the field's shape; zero" \
	  " for all other fields") \
	X(API_REQUEST_COTANGENTS, "cotangents", .kind = API_OBJECT, .types = FOR_VJP, .required = true, \
	  .objects = ONE(api_cotangents), .meaning = "factors of the results") \
	X(API_REQUEST_WRT, "wrt", .kind = API_POINTERS, .types = FOR_VJP, .required = true, \
	  .meaning = "JSON Pointers (RFC 6901) to the fields to differentiate with respect to, each at most once") \
	X(API_REQUEST_NEXT_COLLISIONS, "collisions", .kind = API_OBJECT, .types = ADVANCED, \
	  .objects = ONE(api_next_collisions), .meaning = "what changes at contacts with the next step") \
	X(API_REQUEST_MESH, "mesh", .kind = API_OBJECT, .types = OF_MESH, .objects = ONE(api_mesh), .required = true, \
	  .meaning = "the primitives that may touch, in place of collisions: contacts are found at positions, and their" \
	  " closest features searched. Needs positions, barrier and friction") \
	X(API_REQUEST_MARGIN, "margin", .kind = API_NUMBER, .range = API_NON_NEGATIVE, .types = OF_MESH, .unit = LENGTH, \
	  .meaning = "how much closer than dhat + dmin pairs may come that are not close at positions; by" \
	  " default dhat. Only with mesh") \
	X(API_REQUEST_ANCHORS, "anchors", .kind = API_BOOL, .types = OF_MESH, .fallback = "false", \
	  .meaning = "whether contacts have anchors, which advance carries over; only with mesh") \
	X(API_REQUEST_PREVIOUS, "previous", .kind = API_OBJECT, .types = OF_MESH, .objects = ONE(api_previous), \
	  .meaning = "earlier contacts, whose anchors those of the mesh take over when the set is made; not part of it" \
	  " afterwards. Only with anchors")

#define API_FRICTION_FIELDS(X) \
	X(API_FRICTION_EPS_V, "eps_v", BY(EPS_V), .kind = API_NUMBER, .range = API_POSITIVE, .unit = VELOCITY, \
	  .meaning = "speed below which a contact sticks; required unless every group has its own") \
	X(API_FRICTION_MU, "mu", BY_BOTH(MU_S, MU_K), .kind = API_NUMBER, COEFFICIENT, \
	  .meaning = "one coefficient for all contacts, both static and kinetic") \
	X(API_FRICTION_MU_S, "mu_s", BY(MU_S), .kind = API_NUMBER, COEFFICIENT, \
	  .meaning = "static coefficient of all contacts; requires mu_k") \
	X(API_FRICTION_MU_K, "mu_k", BY(MU_K), .kind = API_NUMBER, COEFFICIENT, \
	  .meaning = "kinetic coefficient of all contacts; requires mu_s") \
	X(API_FRICTION_VERTEX_MU, "vertex_mu", BY_BOTH(VERTEX_MU_S, VERTEX_MU_K), .kind = API_REALS, COEFFICIENT, \
	  .shape = {API_N_VERTICES}, .meaning = "coefficient per vertex, both static and kinetic") \
	X(API_FRICTION_VERTEX_MU_S, "vertex_mu_s", BY(VERTEX_MU_S), .kind = API_REALS, COEFFICIENT, \
	  .shape = {API_N_VERTICES}, .meaning = "static coefficient per vertex; requires vertex_mu_k") \
	X(API_FRICTION_VERTEX_MU_K, "vertex_mu_k", BY(VERTEX_MU_K), .kind = API_REALS, COEFFICIENT, \
	  .shape = {API_N_VERTICES}, .meaning = "kinetic coefficient per vertex; requires vertex_mu_s") \
	X(API_FRICTION_BLEND, "blend", .kind = API_WORD, .words = blends, \
	  .meaning = "combines the coefficients of the two sides of a contact; only with coefficients per vertex") \
	X(API_FRICTION_MATERIALS, "materials", .kind = API_OBJECT, .objects = ONE(api_materials), \
	  .meaning = "coefficients for pairs of materials") \
	X(API_FRICTION_LAW, "law", .kind = API_WORD, .words = laws, .meanings = law_meanings, \
	  .meaning = "dependence of friction on the speed") \
	X(API_FRICTION_TRANSITION, "mu_transition", .kind = API_WORD, .words = transitions, \
	  .meanings = transition_meanings, .meaning = "transition from static to kinetic; only for the law smooth") \
	X(API_FRICTION_STRIBECK_SPEED, "stribeck_speed", BY(STRIBECK_SPEED), .kind = API_NUMBER, .range = API_POSITIVE, \
	  .unit = VELOCITY, .meaning = "speed over which friction decays beyond eps_v; only for the laws stribeck and" \
	  " exponential, which require it unless every group has its own") \
	X(API_FRICTION_CURVE, "curve", .kind = API_OBJECT, .objects = ONE(api_curve), \
	  .meaning = "only for the law curve, which requires it") \
	X(API_FRICTION_VISCOUS, "viscous", BY(VISCOUS), .kind = API_NUMBER, .range = API_NON_NEGATIVE, .fallback = "0", \
	  .unit = "1 / velocity", .meaning = "drag per normal force and slip velocity, added to any law")

#define API_MATERIALS_FIELDS(X) \
	X(API_MATERIALS_VERTEX, "vertex_material", .kind = API_INDICES, .shape = {API_N_VERTICES}, \
	  .meaning = "material of every vertex, numbered from 0; required unless all contacts are of bodies") \
	X(API_MATERIALS_PLANE, "plane_material", .kind = API_INDEX, \
	  .meaning = "material of planes and the world; required for plane_vertex and body_world") \
	X(API_MATERIALS_BODY, "body_material", .kind = API_INDICES, .shape = {API_N_BODIES}, \
	  .meaning = "material of every body, numbered from 0; required for contacts of bodies") \
	X(API_MATERIALS_MU, "mu", BY_BOTH(MATERIAL_MU_S, MATERIAL_MU_K), .kind = API_REALS, COEFFICIENT, \
	  .shape = {API_MATERIALS, API_MATERIALS}, .meaning = "symmetric table of coefficients, both static and kinetic") \
	X(API_MATERIALS_MU_S, "mu_s", BY(MATERIAL_MU_S), .kind = API_REALS, COEFFICIENT, \
	  .shape = {API_MATERIALS, API_MATERIALS}, .meaning = "symmetric table of static coefficients; requires mu_k") \
	X(API_MATERIALS_MU_K, "mu_k", BY(MATERIAL_MU_K), .kind = API_REALS, COEFFICIENT, \
	  .shape = {API_MATERIALS, API_MATERIALS}, .meaning = "symmetric table of kinetic coefficients; requires mu_s")

#define API_BARRIER_FIELDS(X) \
	X(API_BARRIER_DHAT, "dhat", BY(DHAT), .kind = API_NUMBER, .range = API_POSITIVE, .required = true, .unit = LENGTH, \
	  .meaning = "reach of the barrier: from dmin + dhat on the force is 0") \
	X(API_BARRIER_STIFFNESS, "stiffness", BY(STIFFNESS), .kind = API_NUMBER, .range = API_POSITIVE, .required = true, \
	  .unit = "force / length^3", \
	  .meaning = "kappa. For normalized_clamped_log in force * length, with physical scaling in force") \
	X(API_BARRIER_DMIN, "dmin", BY(DMIN), .kind = API_NUMBER, .range = API_NON_NEGATIVE, .fallback = "0", \
	  .unit = LENGTH, .meaning = "thickness: a distance not larger than this is a penetration") \
	X(API_BARRIER_TYPE, "type", .kind = API_WORD, .words = barriers, .meanings = barrier_meanings, \
	  .meaning = "barrier as a function of D = distance^2 - dmin^2, zero from E = (2 dmin + dhat) dhat on; the force" \
	  " is -stiffness times its derivative times 2 distance") \
	X(API_BARRIER_SCALING, "scaling", .kind = API_WORD, .words = scalings, .meanings = scaling_meanings, \
	  .meaning = "scaling of the force")

/* The objects of contact types: X(type, name, meaning). */
#define API_VERTEX_GROUPS(X) \
	X(VERTEX_VERTEX, "VertexVertex", "Contacts of two vertices: v0, v1.") \
	X(EDGE_VERTEX, "EdgeVertex", "Contacts of a vertex with an edge: v, e0, e1.") \
	X(EDGE_EDGE, "EdgeEdge", "Contacts of two edges: a0, a1, b0, b1. 3D only.") \
	X(FACE_VERTEX, "FaceVertex", "Contacts of a vertex with a triangle: v, t0, t1, t2. 3D only.") \
	X(PLANE_VERTEX, "PlaneVertex", "Contacts of a vertex with a plane: v.")
#define API_GROUPS(X) \
	API_VERTEX_GROUPS(X) \
	X(BODY_BODY, "BodyBody", "Contacts of two rigid bodies: a, b.") \
	X(BODY_WORLD, "BodyWorld", "Contacts of a rigid body with the world at rest: b.")

/* Values per contact, or one for all. The checks read them in this order. */
#define API_GROUP_FIELDS(X) \
	X(API_GROUP_VERTICES, "vertices", .kind = API_INDICES, .shape = {API_N, API_STENCIL}, .required = true, \
	  .types = OF_VERTICES, .meaning = "stencils; a vertex may appear only once in a stencil") \
	X(API_GROUP_BODIES, "bodies", .kind = API_INDICES, .shape = {API_N, API_STENCIL}, .required = true, \
	  .types = OF_BODIES, .meaning = "stencils; a body may appear only once in a stencil") \
	X(API_GROUP_POINT, "point", ROW(POINT, point), .shape = {API_N, API_DIM}, .types = OF_BODIES, .unit = LENGTH, \
	  .meaning = "point of contact in space") \
	X(API_GROUP_NORMAL, "normal", ROW(NORMAL, normal), .shape = {API_N, API_DIM}, .types = OF_BODIES, .unit = LENGTH, \
	  .meaning = "normal of the contact, of any length but 0") \
	X(API_GROUP_NORMAL_FORCE, "normal_force", ROW(NORMAL_FORCE, normal_force), .range = API_NON_NEGATIVE, \
	  .shape = {API_N}, .unit = FORCE, \
	  .meaning = "lambda; by default derived from barrier, which contacts of bodies cannot use") \
	X(API_GROUP_WEIGHT, "weight", ROW(WEIGHT, weight), .shape = {API_N}, .fallback = "1", .unit = DIMENSIONLESS, \
	  .meaning = "factor, of any sign, on the contact's potential and everything derived from it") \
	X(API_GROUP_MU, "mu", .by = {1 + FRIC_ROW_MU_S, 1 + FRIC_ROW_MU_K}, .kind = API_REALS, COEFFICIENT, \
	  .shape = {API_N}, .one_for_all = true, \
	  .meaning = "coefficient, both static and kinetic; by default from friction") \
	X(API_GROUP_MU_S, "mu_s", BY_ROW(MU_S), .kind = API_REALS, COEFFICIENT, .shape = {API_N}, .one_for_all = true, \
	  .meaning = "static coefficient; requires mu_k") \
	X(API_GROUP_MU_K, "mu_k", BY_ROW(MU_K), .kind = API_REALS, COEFFICIENT, .shape = {API_N}, .one_for_all = true, \
	  .meaning = "kinetic coefficient; requires mu_s") \
	X(API_GROUP_EPS_V, "eps_v", ROW(EPS_V, eps_v), .range = API_POSITIVE, .shape = {API_N}, .unit = VELOCITY, \
	  .meaning = "speed below which the contact sticks; by default from friction") \
	X(API_GROUP_MU_ANISO, "mu_aniso", ROW(MU_ANISO, mu_aniso), .range = API_POSITIVE, .shape = {API_N, API_TANGENTS}, \
	  .bare = true, .unit = DIMENSIONLESS, \
	  .meaning = "velocity scaling along the tangent directions; by default 1; in 2D a number is allowed") \
	X(API_GROUP_MU_S_ANISO, "mu_s_aniso", ROW(MU_S_ANISO, mu_s_aniso), COEFFICIENT, .shape = {API_N, API_TANGENTS}, \
	  .only = 3, \
	  .meaning = "matchstick ellipse of the static coefficient; by default, and with zeros, the scalar one is used") \
	X(API_GROUP_MU_K_ANISO, "mu_k_aniso", ROW(MU_K_ANISO, mu_k_aniso), COEFFICIENT, .shape = {API_N, API_TANGENTS}, \
	  .only = 3, \
	  .meaning = "matchstick ellipse of the kinetic coefficient; by default, and with zeros, the scalar one is used") \
	X(API_GROUP_STRIBECK_SPEED, "stribeck_speed", ROW(STRIBECK_SPEED, stribeck_speed), .range = API_POSITIVE, \
	  .shape = {API_N}, .unit = VELOCITY, .meaning = "speed over which friction decays beyond eps_v with the laws" \
	  " stribeck and exponential; by default from friction") \
	X(API_GROUP_VISCOUS, "viscous", ROW(VISCOUS, viscous), .range = API_NON_NEGATIVE, .shape = {API_N}, \
	  .unit = "1 / velocity", .meaning = "drag per normal force and slip velocity; by default from friction") \
	X(API_GROUP_SURFACE_VELOCITY, "surface_velocity", ROW(SURFACE_VELOCITY, surface_velocity), \
	  .shape = {API_N, API_DIM}, .unit = VELOCITY, \
	  .meaning = "velocity of the second side in addition to its vertices', such as a conveyor's; by default 0") \
	X(API_GROUP_ANCHOR, "anchor", ROW(ANCHOR, anchor), .shape = {API_N, API_DIM}, .unit = VELOCITY, \
	  .meaning = "elastic deflection that the contact carries over from earlier steps; by default 0") \
	X(API_GROUP_CLOSEST_POINT, "closest_point", ROW(CLOSEST_POINT, closest_point), .shape = {API_N, API_POINT}, \
	  .types = WITH_POINT, .unit = DIMENSIONLESS, \
	  .meaning = "given geometry: coordinates on edge or triangle; requires tangent_basis") \
	X(API_GROUP_TANGENT_BASIS, "tangent_basis", ROW(TANGENT_BASIS, tangent_basis), \
	  .shape = {API_N, API_DIM, API_TANGENTS}, .unit = DIMENSIONLESS, \
	  .meaning = "given geometry: unit tangents as columns; makes positions unnecessary") \
	X(API_GROUP_GRAIN, "grain", ROW(GRAIN, grain), .shape = {API_N, API_DIM}, .only = 3, .unit = DIMENSIONLESS, \
	  .meaning = "direction in space, of any length but 0, whose projection is the first tangent; excludes" \
	  " tangent_basis") \
	X(API_GROUP_PLANE_NORMAL, "plane_normal", ROW(PLANE_NORMAL, plane_normal), .shape = {API_N, API_DIM}, \
	  .types = BIT(FRIC_PLANE_VERTEX), .unit = LENGTH, \
	  .meaning = "normal of the plane, of any length but 0; required unless tangent_basis is given") \
	X(API_GROUP_PLANE_ORIGIN, "plane_origin", ROW(PLANE_ORIGIN, plane_origin), .shape = {API_N, API_DIM}, \
	  .types = BIT(FRIC_PLANE_VERTEX), .unit = LENGTH, \
	  .meaning = "any point of the plane; required for distances (barrier, the output distance)") \
	X(API_GROUP_MOLLIFIER, "mollifier", COLUMN(mollifier), .range = API_NON_NEGATIVE, .shape = {API_N}, \
	  .types = BIT(FRIC_EDGE_EDGE), .only = 3, .fallback = "0", .unit = "length^4", \
	  .meaning = "squared cross product of the edges below which they count as nearly parallel: no friction, and a" \
	  " smaller barrier; if it is not 0, the closest feature is searched") \
	X(API_GROUP_SPIN_RADIUS, "spin_radius", ROW(SPIN_RADIUS, spin_radius), .range = API_NON_NEGATIVE, \
	  .shape = {API_N}, .types = OF_BODIES, .only = 3, .unit = LENGTH, .fallback = "0", \
	  .meaning = "torque against spin about the normal, per friction force: 2/3 R for a disc under uniform pressure") \
	X(API_GROUP_ROLL_RADIUS, "roll_radius", ROW(ROLL_RADIUS, roll_radius), .range = API_NON_NEGATIVE, \
	  .shape = {API_N}, .types = OF_BODIES, .unit = LENGTH, .fallback = "0", \
	  .meaning = "torque against rolling, per friction force: the coefficient of rolling resistance, a length," \
	  " divided by mu")

/* A request that finds contacts, and its parts. */
#define API_CONTACTS_FIELDS(X) \
	X(API_CONTACTS_DIM, "dim", .kind = API_INTEGER, .least = 2, .most = 3, .required = true, .meaning = "dimension") \
	X(API_CONTACTS_POSITIONS, "positions", .kind = API_REALS, .shape = {API_N_VERTICES, API_DIM}, .required = true, \
	  .unit = LENGTH, .meaning = "positions at which contacts are sought") \
	X(API_CONTACTS_DISTANCE, "distance", .kind = API_NUMBER, .range = API_POSITIVE, .required = true, .unit = LENGTH, \
	  .meaning = "pairs closer than distance + min_distance are contacts; dhat of a barrier, or with merge false the" \
	  " reach of a list for several steps") \
	X(API_CONTACTS_MIN_DISTANCE, "min_distance", .kind = API_NUMBER, .range = API_NON_NEGATIVE, .fallback = "0", \
	  .unit = LENGTH, .meaning = "dmin of a barrier") \
	X(API_CONTACTS_MESH, "mesh", .kind = API_OBJECT, .objects = ONE(api_mesh), \
	  .meaning = "the primitives that may touch; required without candidates") \
	X(API_CONTACTS_CANDIDATES, "candidates", .kind = API_OBJECT, .objects = ONE(api_candidates), \
	  .meaning = "pairs of primitives, in place of a mesh") \
	X(API_CONTACTS_WEIGHTING, "weighting", .kind = API_WORD, .words = weightings, .meanings = weighting_meanings, \
	  .meaning = "the weight of a pair") \
	X(API_CONTACTS_MERGE, "merge", .kind = API_BOOL, .fallback = "true", \
	  .meaning = "true: contacts of closest features, equal ones merged; false: the pairs themselves, for the" \
	  " closest_features search") \
	X(API_CONTACTS_PREVIOUS, "previous", .kind = API_OBJECT, .objects = ONE(api_previous), \
	  .meaning = "earlier contacts, whose anchors the new ones take over") \
	X(API_CONTACTS_OUTPUTS, "outputs", .kind = API_WORDS, .words = found_outputs, .fallback = "['collisions']", \
	  .meaning = "results to return") \
	X(API_CONTACTS_LONGEST_STEP, "longest_step", .kind = API_OBJECT, .objects = ONE(api_longest_step), \
	  .meaning = "the direction for the output longest_step, which requires it")

#define API_MESH_FIELDS(X) \
	X(API_MESH_FACES, "faces", .kind = API_INDICES, .shape = {API_N_ROWS, API_THREE}, .only = 3, \
	  .meaning = "triangles, in any order and orientation; their edges follow from them") \
	X(API_MESH_EDGES, "edges", .kind = API_INDICES, .shape = {API_N_ROWS, API_PAIR}, \
	  .meaning = "2D: the boundary. 3D: edges that may belong to no face, such as rods") \
	X(API_MESH_VERTICES, "vertices", .kind = API_INDICES, .shape = {API_N_ROWS}, \
	  .meaning = "particles: vertices of no edge and no face") \
	X(API_MESH_PLANES, "planes", .kind = API_OBJECT, .objects = ONE(api_planes), \
	  .meaning = "planes that all vertices of the mesh may touch") \
	X(API_MESH_REST_POSITIONS, "rest_positions", .kind = API_REALS, .shape = {API_N_VERTICES, API_DIM}, \
	  .unit = LENGTH, .meaning = "determine weights by area, and mollifiers; by default positions") \
	X(API_MESH_BODY, "body", .kind = API_INDICES, .shape = {API_N_VERTICES}, \
	  .meaning = "a label of every vertex, for ignore; required with it") \
	X(API_MESH_IGNORE, "ignore", .kind = API_INDICES, .shape = {API_N_ROWS, API_PAIR}, \
	  .meaning = "pairs of labels that never touch; [a, a]: not with itself") \
	X(API_MESH_FIXED, "fixed", .kind = API_INDICES, .shape = {API_N_ROWS}, \
	  .meaning = "vertices that do not move: they touch neither each other nor planes")

/* The scalar functions: X(place, name, kind, meaning). */
#define API_FUNCTIONS(X) \
	X(API_SMOOTH_FRICTION_F0, "smooth_friction_f0", API_SMOOTH_FRICTION, \
	  "integral of f1: eps_v (1/3 + z^2 - z^3/3) below eps_v, |y| above") \
	X(API_SMOOTH_FRICTION_F1, "smooth_friction_f1", API_SMOOTH_FRICTION, \
	  "smooth step from 0 to 1: 2z - z^2 below eps_v, z = |y|/eps_v") \
	X(API_SMOOTH_FRICTION_F2, "smooth_friction_f2", API_SMOOTH_FRICTION, "derivative of f1") \
	X(API_SMOOTH_FRICTION_F1_OVER_X, "smooth_friction_f1_over_x", API_SMOOTH_FRICTION, "f1(y)/y, finite at 0") \
	X(API_SMOOTH_FRICTION_F2_X_MINUS_F1_OVER_X3, "smooth_friction_f2_x_minus_f1_over_x3", API_SMOOTH_FRICTION, \
	  "(f2(y) y - f1(y))/y^3") \
	X(API_SMOOTH_MU_MU, "smooth_mu", API_SMOOTH_MU, "coefficient of friction between mu_s and mu_k") \
	X(API_SMOOTH_MU_DERIVATIVE, "smooth_mu_derivative", API_SMOOTH_MU, "derivative of smooth_mu") \
	X(API_SMOOTH_MU_F0, "smooth_mu_f0", API_SMOOTH_MU, "integral of smooth_mu f1") \
	X(API_SMOOTH_MU_F1, "smooth_mu_f1", API_SMOOTH_MU, "smooth_mu f1: friction force per normal force") \
	X(API_SMOOTH_MU_F2, "smooth_mu_f2", API_SMOOTH_MU, "derivative of smooth_mu f1") \
	X(API_SMOOTH_MU_F1_OVER_X, "smooth_mu_f1_over_x", API_SMOOTH_MU, "smooth_mu f1 / y, finite at 0") \
	X(API_SMOOTH_MU_F2_X_MINUS_MU_F1_OVER_X3, "smooth_mu_f2_x_minus_mu_f1_over_x3", API_SMOOTH_MU, \
	  "(smooth_mu_f2(y) y - smooth_mu_f1(y))/y^3") \
	X(API_LAW_POTENTIAL, "law_potential", API_LAW, \
	  "potential per normal force with any law; its derivative is law_force") \
	X(API_LAW_FORCE, "law_force", API_LAW, "friction force per normal force") \
	X(API_LAW_FORCE_OVER_SPEED, "law_force_over_speed", API_LAW, "law_force / y, finite at 0") \
	X(API_LAW_FORCE_DERIVATIVE, "law_force_derivative", API_LAW, "derivative of law_force") \
	X(API_X_FROM_TAU_ANISO, "anisotropic_x_from_tau_aniso", API_DIRECTION, \
	  "unit direction of tau_aniso; (1, 0) below 1e-10") \
	X(API_MU_EFF_F, "anisotropic_mu_eff_f", API_ELLIPSE, "matchstick coefficients (static, kinetic) along tau_dir") \
	X(API_MU_EFF_FROM_TAU_ANISO, "anisotropic_mu_eff_from_tau_aniso", API_EFFECTIVE, \
	  "matchstick coefficients along tau_aniso, with scalar fallbacks")

/* Parameters of the scalar functions, in the order in which they are listed. The first one that a kind of function has
 * determines the number of values. Of two with the same name, the first accepts everything that the second accepts. */
#define API_CALL_FIELDS(X) \
	X(API_CALL_Y, "y", .kind = API_REALS, .shape = {API_N_ENTRIES}, .one_for_all = true, .required = true, \
	  .types = SCALARS, .unit = VELOCITY, \
	  .meaning = "speeds at which to evaluate, of either sign; a single number is allowed") \
	X(API_CALL_TAU_ANISO, "tau_aniso", .kind = API_REALS, .shape = {API_N_ENTRIES, API_PAIR}, .required = true, \
	  .types = BIT(API_DIRECTION) | BIT(API_EFFECTIVE), .unit = VELOCITY, .meaning = "scaled tangential velocities") \
	X(API_CALL_TAU_DIR, "tau_dir", .kind = API_REALS, .shape = {API_N_ENTRIES, API_PAIR}, .required = true, \
	  .types = BIT(API_ELLIPSE), .unit = DIMENSIONLESS, .meaning = "unit directions of slip") \
	X(API_CALL_MU_S_ANISO, "mu_s_aniso", .kind = API_REALS, COEFFICIENT, .shape = {API_N_ENTRIES, API_PAIR}, \
	  .one_for_all = true, .required = true, .types = ELLIPSES, .meaning = "static ellipse") \
	X(API_CALL_MU_K_ANISO, "mu_k_aniso", .kind = API_REALS, COEFFICIENT, .shape = {API_N_ENTRIES, API_PAIR}, \
	  .one_for_all = true, .required = true, .types = ELLIPSES, .meaning = "kinetic ellipse") \
	X(API_CALL_MU_S, "mu_s", .kind = API_REALS, COEFFICIENT, .shape = {API_N_ENTRIES}, .one_for_all = true, \
	  .required = true, .types = COEFFICIENTS, .meaning = "static coefficient") \
	X(API_CALL_MU_K, "mu_k", .kind = API_REALS, COEFFICIENT, .shape = {API_N_ENTRIES}, .one_for_all = true, \
	  .required = true, .types = COEFFICIENTS, .meaning = "kinetic coefficient") \
	X(API_CALL_EPS_V, "eps_v", .kind = API_REALS, .range = API_POSITIVE, .shape = {API_N_ENTRIES}, \
	  .one_for_all = true, .required = true, .types = SCALARS, .unit = VELOCITY, \
	  .meaning = "speed below which a contact sticks") \
	X(API_CALL_LAW, "law", .kind = API_WORD, .words = laws, .meanings = law_meanings, .types = BIT(API_LAW), \
	  .meaning = "friction law") \
	X(API_CALL_TRANSITION, "mu_transition", .kind = API_WORD, .words = transitions, .meanings = transition_meanings, \
	  .types = BIT(API_LAW), .meaning = "transition from static to kinetic; only for the law smooth") \
	X(API_CALL_MU_TRANSITION, "mu_transition", .kind = API_WORD, .words = curves, .meanings = curve_meanings, \
	  .types = BIT(API_SMOOTH_MU), .meaning = "curve of mu from static to kinetic") \
	X(API_CALL_STRIBECK_SPEED, "stribeck_speed", .kind = API_REALS, .range = API_POSITIVE, .shape = {API_N_ENTRIES}, \
	  .one_for_all = true, .types = BIT(API_LAW), .unit = VELOCITY, \
	  .meaning = "speed over which friction decays beyond eps_v; only for the laws stribeck and exponential, which" \
	  " require it") \
	X(API_CALL_CURVE, "curve", .kind = API_OBJECT, .objects = ONE(api_curve), .types = BIT(API_LAW), \
	  .meaning = "only for the law curve, which requires it; only in a body") \
	X(API_CALL_VISCOUS, "viscous", .kind = API_REALS, .range = API_NON_NEGATIVE, .shape = {API_N_ENTRIES}, \
	  .one_for_all = true, .types = BIT(API_LAW), .unit = "1 / velocity", .fallback = "0", \
	  .meaning = "drag per normal force and slip velocity, added to any law") \
	X(API_CALL_NO_MU, "no_mu", .kind = API_BOOL, .fallback = "false", .types = BIT(API_EFFECTIVE), \
	  .meaning = "true returns 1, 1 and requires only tau_aniso")

/* Formats of the Hessian: X(place, word, meaning). A pattern alone is available in the formats of API_PATTERN_FORMATS:
 * X(word, meaning, members that make up the pattern, name of its schema). */
#define API_HESSIAN_FORMATS(X) \
	X(API_TRIPLETS, "triplets", "every contact's block, duplicates add up") \
	X(API_CSR, "csr", "compressed rows, merged and sorted") \
	X(API_BSR, "bsr", "compressed rows of blocks of dim x dim") \
	X(API_FACTORS, "factors", "the factors of every contact's block")
#define API_PATTERN_FORMATS(X) \
	X("csr", "compressed rows, merged and sorted", CSR_PLACES, "CsrPattern") \
	X("bsr", "compressed rows of blocks of dim x dim", BSR_PLACES, "BsrPattern") \
	X("triplets", "every contact's block, in order", TRIPLETS_PLACES, "TripletsPattern")
#define API_JACOBIAN_FORMATS(X) \
	X(API_JACOBIAN_CSR, "csr", "compressed rows, merged and sorted") \
	X(API_JACOBIAN_TRIPLETS, "triplets", "every contact's block, duplicates add up")

/* Values of `outputs`: X(place, name, rule). ALSO(name, rule) is a member that accompanies the previous one. */
#define API_EVALUATE_OUTPUTS(X, ALSO) \
	X(API_POTENTIAL, "potential", .kind = API_NUMBER, .unit = "force * velocity", .meaning = "sum over the contacts") \
	X(API_GRADIENT, "gradient", .kind = API_REALS, .shape = {API_N_DOF}, .unit = FORCE, \
	  .meaning = "gradient of the potential with respect to velocities, the negative friction force." \
	             " Vertex i, axis a: i*dim + a") \
	ALSO("body_gradient", .kind = API_REALS, .shape = {API_N_BODIES, API_TWIST}, .unit = FORCE, \
	     .meaning = "gradient with respect to body_velocities: force, then torque about the body's point; accompanies" \
	                " gradient if bodies were sent") \
	X(API_HESSIAN, "hessian", .kind = API_ONE_OF, .objects = api_hessian_answers, .unit = STIFFNESS, \
	  .meaning = "in the requested format") \
	X(API_COLLISIONS, "collisions", .kind = API_OBJECT, .objects = ONE(api_collision_values), \
	  .meaning = "values per contact") \
	X(API_LINE, "line", .kind = API_OBJECT, .objects = ONE(line_values), \
	  .meaning = "potential and slope at velocities + t * direction") \
	X(API_HESSIAN_PRODUCTS, "hessian_products", .kind = API_REALS, .shape = {API_N_VECTORS, API_N_DOFS}, \
	  .unit = STIFFNESS " * unit of the vectors", .meaning = "the projected Hessian times every vector") \
	X(API_POSITION_JACOBIAN, "position_jacobian", .kind = API_ONE_OF, .objects = api_jacobian_answers, \
	  .unit = "force / length", \
	  .meaning = "derivative of gradient and body_gradient with respect to positions, in the requested format; not" \
	             " symmetric, rows of bodies are empty") \
	X(API_LONGEST_STEP, "longest_step", .kind = API_ONE_OF, .objects = api_step_answers, \
	  .meaning = "how far all vertices can move along the direction before contacts come too close")

/* Somebody else's results. */
#define API_CLAIMS_FIELDS(X) \
	X(API_CLAIMED_POTENTIAL, "potential", .kind = API_NUMBER, .unit = "force * velocity", \
	  .meaning = "sum over the contacts") \
	X(API_CLAIMED_GRADIENT, "gradient", .kind = API_REALS, .shape = {API_N_VERTICES, API_DIM}, .unit = FORCE, \
	  .meaning = "gradient of the potential with respect to velocities") \
	X(API_CLAIMED_BODY_GRADIENT, "body_gradient", .kind = API_REALS, .shape = {API_N_BODIES, API_TWIST}, \
	  .unit = FORCE, .meaning = "gradient with respect to body_velocities") \
	X(API_CLAIMED_HESSIAN, "hessian", .kind = API_OBJECT, .objects = ONE(api_claimed_hessian), .unit = STIFFNESS, \
	  .meaning = "Hessian with the triangle and projection of the request's member hessian") \
	X(API_CLAIMED_TOLERANCE, "tolerance", .kind = API_NUMBER, .range = API_POSITIVE, .fallback = "1e-8", \
	  .meaning = "largest relative difference that agrees, less than 1")

/* A claimed Hessian: formats that are sums of entries. */
#define API_MATRIX_FIELDS(X) \
	X(API_MATRIX_FORMAT, "format", .kind = API_WORD, .words = claimed_formats, .meaning = "format of the matrix") \
	X(API_MATRIX_SHAPE, "shape", .kind = API_INDICES, .shape = {API_PAIR}, .meaning = "[n_dof, n_dof]") \
	X(API_MATRIX_ROWS, "rows", .kind = API_INDICES, .shape = {API_ANY_LENGTH}, \
	  .meaning = "row of every entry, for triplets") \
	X(API_MATRIX_COLS, "cols", .kind = API_INDICES, .shape = {API_ANY_LENGTH}, \
	  .meaning = "column of every entry, for triplets") \
	X(API_MATRIX_VALUES, "values", .kind = API_REALS, .shape = {API_ANY_LENGTH}, \
	  .meaning = "entries; duplicates add up, for triplets") \
	X(API_MATRIX_INDPTR, "indptr", .kind = API_INDICES, .shape = {API_ANY_LENGTH}, .meaning = "start of every row:" \
	  " [n_dof + 1], of every row of blocks: [n_vertices + 1], for csr and bsr") \
	X(API_MATRIX_INDICES, "indices", .kind = API_INDICES, .shape = {API_ANY_LENGTH}, \
	  .meaning = "column of every entry or block, for csr and bsr") \
	X(API_MATRIX_DATA, "data", .kind = API_REALS, .shape = {API_ANY_LENGTH}, \
	  .meaning = "entries, or blocks [entries, dim, dim]; duplicates add up, for csr and bsr")

/* Mistakes that explain claims, and notes on valid requests: X(place, word, meaning). */
#define API_MISTAKES(X) \
	X(API_SIGN, "sign", "the sign is the opposite, at least of some entries") \
	X(API_CONE_SCALED, "cone_scaled", "forces are multiples of the right ones, or exceed the cone") \
	X(API_MISSING_F2, "missing_f2", "the Hessian lacks the derivative along the slip, or a part of it") \
	X(API_INDEFINITE_WHERE_PROJECTED, "indefinite_where_projected", "the Hessian has another projection") \
	X(API_DISPLACEMENT_FOR_VELOCITY, "displacement_for_velocity", \
	  "velocities or eps_v are scaled by a time step, or results are per displacement") \
	X(API_TRANSITION, "transition", "another transition from static to kinetic friction, or another law") \
	X(API_BLEND, "blend", "another blend of coefficients") \
	X(API_UNLAGGED, "unlagged", "geometry, normal forces or directions are not lagged") \
	X(API_OTHER, "other", "no other explains it")
#define API_NOTES(X) \
	X(API_HOLDS_LESS_THAN_MU_S, "holds_less_than_mu_s") \
	X(API_MU_K_ABOVE_MU_S, "mu_k_above_mu_s") \
	X(API_LARGE_COEFFICIENT, "large_coefficient") \
	X(API_SPEEDS_FAR_BELOW_EPS_V, "speeds_far_below_eps_v") \
	X(API_VISCOUS_OUTWEIGHS_COULOMB, "viscous_outweighs_coulomb") \
	X(API_ANCHOR_LONGER_THAN_EPS_V, "anchor_longer_than_eps_v") \
	X(API_VELOCITIES_EQUAL_POSITIONS, "velocities_equal_positions")
/* clang-format on */
#endif
