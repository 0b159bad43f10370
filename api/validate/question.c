#include "api/validate/question.h"

#include <string.h>

/* A question on its way through the checks, with what is known of the lagged part that it is asked about. */
struct question_check {
	struct api_check *check;
	struct api_question *question;
	const struct api_field *root;
	size_t dim, n_vertices, n_bodies; /* or API_UNKNOWN_LENGTH */
	bool has_bodies;                  /* they were sent, perhaps none */
	bool bodies_alone;                /* no velocities of vertices are needed */
	struct api_lagged_check *lagged;  /* that comes in the same request; NULL: it is a set's */
};

static struct api_field member(const struct question_check *q, int rule)
{
	return api_ruled(q->root, &api_request, rule);
}

#define WHY_VELOCITIES "the velocities to evaluate at, [n_vertices, dim]"

/* How many vertices there are: a request that has everything has a row of velocities for each. */
static size_t count_velocities(const struct question_check *q)
{
	const struct api_field velocities = member(q, API_REQUEST_VELOCITIES);
	size_t n = 0;
	if (!velocities.node && q->bodies_alone)
		return 0;
	if (!api_check_present(q->check, &velocities, WHY_VELOCITIES) || q->dim == API_UNKNOWN_LENGTH ||
	    !api_check_rows(q->check, &velocities, q->dim, &n) ||
	    !api_check_at_most(q->check, &velocities, "vertices", n, api_check_limits(q->check)->max_vertices))
		return API_UNKNOWN_LENGTH;
	return n;
}

static void check_velocities(struct question_check *q)
{
	const struct api_field field = member(q, API_REQUEST_VELOCITIES);
	const int before = q->check->fault->n_errors;
	q->n_vertices = count_velocities(q);
	if (q->check->fault->n_errors == before) /* else its array has been judged */
		api_check_per_vertex(q->check, &field, q->n_vertices, q->dim, &q->question->velocities);
}

static void check_lagged_velocities(struct question_check *q)
{
	const struct api_field field = member(q, API_REQUEST_LAGGED_VELOCITIES);
	q->question->lagged_velocities = q->question->velocities;
	q->question->sent_lagged_velocities = field.node;
	api_check_per_vertex(q->check, &field, q->n_vertices, q->dim, &q->question->lagged_velocities);
}

static void check_per_body(struct question_check *q, const struct api_field *field, const double **out)
{
	api_check_per_body(q->check, field, q->n_bodies, q->dim, out);
}

/* Twists of what? They are judged no further then. */
static void check_bodies_sent(struct question_check *q)
{
	const struct api_field positions = member(q, API_REQUEST_BODY_POSITIONS),
						   velocities = member(q, API_REQUEST_BODY_VELOCITIES),
						   lagged = member(q, API_REQUEST_LAGGED_BODY_VELOCITIES);
	if (q->has_bodies || (!velocities.node && !lagged.node))
		return;
	q->n_bodies = API_UNKNOWN_LENGTH;
	if (!q->lagged) {
		api_fault_at(q->check->fault, API_E_MISSING_FIELD, &positions.path,
		             "\"body_positions\" is missing from the set's document: there are no bodies");
		return;
	}
	api_check_present(q->check, &positions, "the points that twists refer to, [n_bodies, dim]");
	q->lagged->root.excused |= 1u << API_REQUEST_BODY_POSITIONS;
}

static void check_body_velocities(struct question_check *q)
{
	const struct api_field field = member(q, API_REQUEST_BODY_VELOCITIES);
	if (q->has_bodies)
		api_check_present(q->check, &field, "the twists to evaluate at, [n_bodies, 6], in 2D [n_bodies, 3]");
	check_per_body(q, &field, &q->question->body_velocities);
}

static void check_lagged_body_velocities(struct question_check *q)
{
	const struct api_field field = member(q, API_REQUEST_LAGGED_BODY_VELOCITIES);
	q->question->lagged_body_velocities = q->question->body_velocities;
	q->question->sent_lagged_body_velocities = field.node;
	check_per_body(q, &field, &q->question->lagged_body_velocities);
}

/* As many as the set has vertices and bodies. */
static void check_set_velocities(struct question_check *q)
{
	const struct api_field velocities = member(q, API_REQUEST_VELOCITIES),
						   lagged = member(q, API_REQUEST_LAGGED_VELOCITIES),
						   lagged_bodies = member(q, API_REQUEST_LAGGED_BODY_VELOCITIES);
	if (!q->bodies_alone)
		api_check_present(q->check, &velocities, WHY_VELOCITIES);
	api_check_per_vertex(q->check, &velocities, q->n_vertices, q->dim, &q->question->velocities);
	api_check_per_vertex(q->check, &lagged, q->n_vertices, q->dim, &q->question->lagged_velocities);
	check_bodies_sent(q);
	check_body_velocities(q);
	check_per_body(q, &lagged_bodies, &q->question->lagged_body_velocities);
	q->question->sent_lagged_velocities = lagged.node;
	q->question->sent_lagged_body_velocities = lagged_bodies.node;
}

static void check_outputs(struct question_check *q)
{
	const struct api_field wanted = member(q, API_REQUEST_OUTPUTS),
						   collision = member(q, API_REQUEST_COLLISION_OUTPUTS);
	struct api_question *to = q->question;
	to->outputs[API_POTENTIAL] = to->outputs[API_GRADIENT] = to->outputs[API_HESSIAN] = true;
	to->collision_outputs[FRIC_OUT_POTENTIAL] = to->collision_outputs[FRIC_OUT_TANGENTIAL_VELOCITY] = true;
	q->check->other_words = collision.rule->words;
	q->check->other_field = "; values per contact belong in \"collision_outputs\", with \"collisions\" here";
	const bool known = api_check_choices(q->check, &wanted, wanted.rule->words, to->outputs);
	q->check->other_words = wanted.rule->words;
	q->check->other_field = "; what is not per contact belongs in \"outputs\"";
	const bool sound = api_check_choices(q->check, &collision, collision.rule->words, to->collision_outputs);
	q->check->other_words = NULL;
	if (collision.node && known && sound && !to->outputs[API_COLLISIONS])
		api_fault_at(q->check->fault, API_E_WITHOUT_EFFECT, &collision.path,
		             "\"collision_outputs\" has no effect without \"collisions\" in \"outputs\"%s",
		             wanted.node ? "" : ", which is potential, gradient, hessian where it is not given");
}

static void check_choice(struct question_check *q, const struct api_field *field, int *out)
{
	api_check_choice(q->check, field, field->rule->words, out);
}

static void check_hessian(struct question_check *q)
{
	struct api_field hessian = member(q, API_REQUEST_HESSIAN);
	struct api_question *to = q->question;
	if (!hessian.node)
		return;
	api_check_object(q->check, &hessian, &api_hessian);
	if (!json_is_object(hessian.node))
		return;
	const struct api_field format = api_ruled(&hessian, &api_hessian, API_HESSIAN_FORMAT),
						   triangle = api_ruled(&hessian, &api_hessian, API_HESSIAN_TRIANGLE),
						   projection = api_ruled(&hessian, &api_hessian, API_HESSIAN_PROJECTION),
						   pattern = api_ruled(&hessian, &api_hessian, API_HESSIAN_PATTERN);
	bool with_pattern = true;
	check_choice(q, &format, &to->format);
	check_choice(q, &triangle, &to->triangle);
	check_choice(q, &projection, &to->projection);
	if (to->format == API_FACTORS && triangle.node)
		api_fault_at(q->check->fault, API_E_WITHOUT_EFFECT, &triangle.path,
		             "\"triangle\" goes with triplets, csr and bsr only");
	if (to->format == API_BSR && q->n_bodies != 0 && q->n_bodies != API_UNKNOWN_LENGTH)
		api_check_without_bodies(q->check, &format);
	api_check_bool(q->check, &pattern, &with_pattern);
	to->without_pattern = !with_pattern;
	if (to->format == API_FACTORS && !with_pattern)
		api_fault_at(q->check->fault, API_E_WITHOUT_EFFECT, &pattern.path, "factors have no pattern to leave out");
}

static bool check_steps(struct question_check *q, const struct api_field *steps)
{
	struct api_question *to = q->question;
	struct fric_values values;
	if (!api_check_present(q->check, steps, "a line needs its steps, [m]") ||
	    !api_check_rows(q->check, steps, 0, &to->n_steps))
		return false;
	if (to->n_steps > API_MAX_STEPS)
		return api_fault_at(q->check->fault, API_E_WRONG_SHAPE, &steps->path, "expected at most %d steps, got %zu",
		                    API_MAX_STEPS, to->n_steps);
	const struct api_shape shape = {.n = to->n_steps};
	const bool ok = api_check_values(q->check, steps, &shape, &values);
	to->steps = values.data;
	return ok;
}

static void check_line(struct question_check *q)
{
	struct api_field line = member(q, API_REQUEST_LINE);
	if (q->question->outputs[API_LINE])
		api_check_present(q->check, &line, "the output \"line\" needs direction and steps");
	if (!line.node)
		return;
	api_check_object(q->check, &line, &api_line);
	if (!json_is_object(line.node))
		return;
	const struct api_field direction = api_ruled(&line, &api_line, API_LINE_DIRECTION),
						   body_direction = api_ruled(&line, &api_line, API_LINE_BODY_DIRECTION),
						   steps = api_ruled(&line, &api_line, API_LINE_STEPS);
	if (!q->has_bodies || q->n_vertices > 0)
		api_check_present(q->check, &direction, "a line needs its direction, [n_vertices, dim]");
	api_check_per_vertex(q->check, &direction, q->n_vertices, q->dim, &q->question->direction);
	if (q->has_bodies && (q->n_bodies > 0 || !direction.node))
		api_check_present(q->check, &body_direction,
		                  "a line needs its direction for bodies, too, [n_bodies, 6], in 2D [n_bodies, 3]");
	check_per_body(q, &body_direction, &q->question->body_direction);
	check_steps(q, &steps);
}

/* How many rows of ndof numbers there are; without DOFs, those that are written as rows. */
static bool count_vectors(struct question_check *q, const struct api_field *vectors, size_t ndof)
{
	const struct api_array *array = api_document_array(q->check->document, vectors->node);
	size_t *n = &q->question->n_vectors;
	if (ndof == 0 && array && !array->ragged && array->rank == 2 && array->n == 0)
		*n = array->shape[0];
	else if (!api_check_rows(q->check, vectors, ndof, n))
		return false;
	return *n <= API_MAX_VECTORS || api_fault_at(q->check->fault, API_E_WRONG_SHAPE, &vectors->path,
	                                             "expected at most %d vectors, got %zu", API_MAX_VECTORS, *n);
}

static void check_vectors(struct question_check *q)
{
	const struct api_field vectors = member(q, API_REQUEST_VECTORS);
	struct fric_values values;
	if (q->question->outputs[API_HESSIAN_PRODUCTS])
		api_check_present(q->check, &vectors, "the output \"hessian_products\" needs them, [m, n_dof]");
	if (!vectors.node || q->n_vertices == API_UNKNOWN_LENGTH || q->n_bodies == API_UNKNOWN_LENGTH ||
	    q->dim == API_UNKNOWN_LENGTH)
		return;
	const size_t ndof = api_n_dofs(q->dim, q->n_vertices, q->n_bodies);
	if (!count_vectors(q, &vectors, ndof))
		return;
	const struct api_shape shape = {.n = q->question->n_vectors, .n_inner = 1, .inner = {ndof}};
	api_check_values(q->check, &vectors, &shape, &values);
	q->question->vectors = values.data;
}

static void check_position_jacobian(struct question_check *q)
{
	struct api_field jacobian = member(q, API_REQUEST_POSITION_JACOBIAN);
	bool with_pattern = true;
	if (!jacobian.node)
		return;
	api_check_object(q->check, &jacobian, &api_position_jacobian);
	if (!json_is_object(jacobian.node))
		return;
	const struct api_field format = api_ruled(&jacobian, &api_position_jacobian, API_JACOBIAN_FORMAT),
						   pattern = api_ruled(&jacobian, &api_position_jacobian, API_JACOBIAN_PATTERN);
	check_choice(q, &format, &q->question->jacobian_format);
	api_check_bool(q->check, &pattern, &with_pattern);
	q->question->jacobian_without_pattern = !with_pattern;
}

/* What goes into the answer; a whole request has on_degenerate among it. */
static void check_options(struct question_check *q)
{
	check_outputs(q);
	if (q->lagged)
		api_lagged_on_degenerate(q->lagged);
	check_hessian(q);
	check_line(q);
	check_vectors(q);
	check_position_jacobian(q);
}

static bool needs_distance(const struct api_question *question)
{
	return question->outputs[API_COLLISIONS] && question->collision_outputs[FRIC_OUT_DISTANCE];
}

/* What answers are computed from. Faults are listed in the order in which the contract lists the fields: that of neither
 * part alone. */
static bool check_computed(struct question_check *q, const struct api_object *object, struct api_lagged_check *l,
                           struct api_lagged *lagged)
{
	*q->question = (struct api_question){0};
	q->root = &l->root;
	q->lagged = l;
	if (!api_lagged_begin(l, q->check, object, NULL, lagged))
		return false;
	api_lagged_dim(l);
	q->dim = l->dim;
	q->bodies_alone = l->bodies_alone;
	check_velocities(q);
	api_lagged_positions(l, q->n_vertices);
	check_lagged_velocities(q);
	api_lagged_bodies(l);
	q->n_bodies = l->n_bodies;
	q->has_bodies = lagged->has_bodies;
	check_bodies_sent(q);
	check_body_velocities(q);
	check_lagged_body_velocities(q);
	api_lagged_contacts(l);
	return true;
}

static void need_positions(struct question_check *q)
{
	const struct api_field positions = member(q, API_REQUEST_POSITIONS);
	if (q->question->outputs[API_POSITION_JACOBIAN] &&
	    !api_check_present(q->check, &positions,
	                       "the output \"position_jacobian\" is a derivative with respect to them"))
		q->lagged->root.excused |= 1u << API_REQUEST_POSITIONS;
}

bool api_check_evaluation(struct api_check *check, struct api_lagged *lagged, struct api_question *question)
{
	struct api_lagged_check l;
	struct question_check q = {.check = check, .question = question};
	if (!check_computed(&q, &api_request, &l, lagged))
		return false;
	check_options(&q);
	need_positions(&q);
	api_lagged_needs(&l, needs_distance(question));
	return !check->fault->status;
}

bool api_check_differentiated(struct api_check *check, const struct api_object *object, struct api_lagged *lagged,
                              struct api_question *question, struct api_field *root)
{
	struct api_lagged_check l;
	struct question_check q = {.check = check, .question = question};
	const bool is_object = check_computed(&q, object, &l, lagged);
	if (is_object) {
		api_lagged_on_degenerate(&l);
		api_lagged_needs(&l, false);
	}
	*root = l.root;
	question->outputs[API_POTENTIAL] = question->outputs[API_GRADIENT] = true;
	return is_object && !check->fault->status;
}

static bool lacks_positions(const struct api_lagged *lagged)
{
	const struct fric_group *planes = &lagged->batch.groups[FRIC_PLANE_VERTEX];
	return planes->n && planes->plane_origin.data && !planes->tangent_basis.data && !lagged->batch.positions;
}

void api_state_facts(const struct api_lagged *lagged, struct api_set_facts *facts)
{
	*facts = (struct api_set_facts){.dim = (size_t)lagged->batch.dim,
	                                .n_vertices = lagged->batch.n_vertices,
	                                .n_bodies = lagged->batch.n_bodies,
	                                .has_bodies = lagged->has_bodies,
	                                .skip_degenerate = lagged->batch.skip_degenerate,
	                                .lacks_positions = lacks_positions(lagged),
	                                .has_positions = lagged->batch.positions};
	memcpy(facts->has_group, lagged->has_group, sizeof(facts->has_group));
}

/* An output is about positions that the set's document lacks. */
static void fault_positions(const struct question_check *q, const char *output)
{
	const struct api_field positions = member(q, API_REQUEST_POSITIONS);
	api_fault_at(q->check->fault, API_E_MISSING_FIELD, &positions.path,
	             "\"positions\" is missing from the set's document: the output %s needs it", output);
}

static void check_set_positions(const struct question_check *q, const struct api_set_facts *facts)
{
	if (q->question->outputs[API_POSITION_JACOBIAN] && !facts->has_positions)
		fault_positions(q, "\"position_jacobian\"");
	else if (facts->lacks_positions && needs_distance(q->question))
		fault_positions(q, "\"distance\" of group \"plane_vertex\"");
}

static struct question_check about_set(struct api_check *check, const struct api_set_facts *facts,
                                       struct api_question *question, struct api_field *root)
{
	*question = (struct api_question){0};
	return (struct question_check){.check = check,
	                               .question = question,
	                               .root = root,
	                               .dim = facts->dim,
	                               .n_vertices = facts->n_vertices,
	                               .n_bodies = facts->n_bodies,
	                               .has_bodies = facts->has_bodies,
	                               .bodies_alone = facts->has_bodies && facts->n_vertices == 0};
}

bool api_check_set_question(struct api_check *check, const struct api_set_facts *facts, struct api_question *question)
{
	struct api_field root;
	struct question_check q = about_set(check, facts, question, &root);
	if (!api_check_root(check, &api_set_question, &api_set_document, &root))
		return false;
	check_set_velocities(&q);
	check_options(&q);
	check_set_positions(&q, facts);
	return !check->fault->status;
}

bool api_check_set_differentiated(struct api_check *check, const struct api_object *object,
                                  const struct api_set_facts *facts, struct api_question *question,
                                  struct api_field *root)
{
	struct question_check q = about_set(check, facts, question, root);
	if (!api_check_root(check, object, &api_set_document, root))
		return false;
	check_set_velocities(&q);
	question->outputs[API_POTENTIAL] = question->outputs[API_GRADIENT] = true;
	return !check->fault->status;
}
