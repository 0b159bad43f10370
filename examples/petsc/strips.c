/* SPDX-License-Identifier: MIT */
/* An elastic strip is pulled over another one; both begin at a wall. PETSc's SNES and libfric, with the Jacobian as a
 * BAIJ matrix or as a function (-shell). Once all of the strip slips, the other one's wall feels mu times all normal
 * forces, whatever the pull.
 * mpicc examples/petsc/strips.c $(pkg-config --cflags --libs fric PETSc) -o build/strips && build/strips */
#include <fric.h>
#include <petscsnes.h>

#define Fric(call) PetscCheck((call) == FRIC_OK, PETSC_COMM_SELF, PETSC_ERR_LIB, "libfric: error %d", (int)error.code)

enum { LOWER = 31, UPPER = 24, N = LOWER + UPPER, ROOM = 16 };
static const double mu = 0.5, normal_force = 200, spring = 2000, edge = 20, gap = 1, slip = 1; /* mN, mm */
static const struct fric_context context = {.n_threads = 1};
static struct fric_error error;

struct strips {
	struct fric_contacts *contacts;
	struct fric_pattern *pattern;
	int64_t rows[N + 1];
	int32_t columns[ROOM * N];
	Mat springs;
	double pull; /* at the end of the upper strip */
	Vec at;      /* displacements at which the Jacobian is */
	PetscBool shell;
};

/* A contact is a vertex of the upper strip and an edge of the lower one. */
static PetscErrorCode make_contacts(struct strips *s)
{
	int32_t stencils[UPPER][3];
	double x[N][2];
	for (int i = 0; i < N; i++)
		memcpy(x[i], i < LOWER ? (double[]){edge * i, 0} : (double[]){edge * (i - LOWER + 2.3), gap}, sizeof x[i]);
	for (int i = 0; i < UPPER; i++)
		memcpy(stencils[i], (int32_t[]){LOWER + i, i + 2, i + 3}, sizeof stencils[i]);
	struct fric_batch batch = {.dim = 2, .n_vertices = N, .positions = x[0]};
	batch.friction = (struct fric_friction){.eps_v = slip, .source = FRIC_MU_SCALAR, .mu_s = mu, .mu_k = mu};
	const struct fric_group group = {.n = UPPER, .vertices = stencils[0], .normal_force = {&normal_force, 0}};
	batch.groups[FRIC_EDGE_VERTEX] = group;
	Fric(fric_prepare(&context, &batch, &s->contacts, &error));
	Fric(fric_pattern_create(&context, s->contacts, FRIC_FULL, &s->pattern, &error));
	Fric(fric_pattern_blocks(&context, s->pattern, s->rows, s->columns, &error));
	return 0;
}

static PetscErrorCode add_springs(Mat A)
{
	const double k = spring, between[] = {k, 0, -k, 0, 0, k, 0, -k, -k, 0, k, 0, 0, -k, 0, k};
	for (int i = 0; i < N; i++) {
		const int ends[] = {i, i == LOWER ? -1 : i - 1}; /* PETSc leaves out row -1: a wall */
		PetscCall(MatSetValuesBlocked(A, 2, ends, 2, ends, between, ADD_VALUES));
	}
	return 0;
}

static PetscErrorCode residual(SNES snes, Vec v, Vec f, void *strips)
{
	const struct strips *s = strips;
	struct fric_query query = {0};
	double *gradient;
	PetscCall(VecGetArrayRead(v, &query.velocities));
	PetscCall(VecGetArrayWrite(f, &gradient)); /* fric_evaluate overwrites it */
	Fric(fric_evaluate(&context, s->contacts, &query, NULL, gradient, &error));
	gradient[2 * N - 2] -= s->pull;
	PetscCall(VecRestoreArrayWrite(f, &gradient));
	PetscCall(VecRestoreArrayRead(v, &query.velocities));
	return MatMultAdd(s->springs, v, f, f);
}

/* The Jacobian without a matrix, times p. */
static PetscErrorCode multiply(Mat J, Vec p, Vec y)
{
	const struct strips *s;
	struct fric_query query = {0};
	const double *vector;
	double *product;
	PetscCall(MatShellGetContext(J, &s));
	PetscCall(VecGetArrayRead(s->at, &query.velocities));
	PetscCall(VecGetArrayRead(p, &vector));
	PetscCall(VecGetArrayWrite(y, &product));
	Fric(fric_hessian_products(&context, s->contacts, &query, FRIC_PROJECT_NONE, 1, vector, product, &error));
	PetscCall(VecRestoreArrayWrite(y, &product));
	PetscCall(VecRestoreArrayRead(p, &vector));
	PetscCall(VecRestoreArrayRead(s->at, &query.velocities));
	return MatMultAdd(s->springs, p, y, y);
}

static PetscErrorCode jacobian(SNES snes, Vec v, Mat J, Mat P, void *strips)
{
	struct strips *s = strips;
	struct fric_query query = {0};
	double inner[UPPER], blocks[4 * ROOM * N];
	s->at = v;
	if (s->shell)
		return 0;
	PetscCall(VecGetArrayRead(v, &query.velocities));
	Fric(fric_hessian_inner(&context, s->contacts, &query, FRIC_PROJECT_NONE, inner, &error));
	PetscCall(VecRestoreArrayRead(v, &query.velocities));
	Fric(fric_hessian_bsr(&context, s->contacts, inner, s->pattern, s->rows, blocks, &error));
	PetscCall(MatZeroEntries(P));
	PetscCall(add_springs(P));
	for (int i = 0; i < N; i++)
		for (int64_t k = s->rows[i]; k < s->rows[i + 1]; k++)
			PetscCall(MatSetValuesBlocked(P, 1, &i, 1, &s->columns[k], blocks + 4 * k, ADD_VALUES));
	PetscCall(MatAssemblyBegin(P, MAT_FINAL_ASSEMBLY));
	return MatAssemblyEnd(P, MAT_FINAL_ASSEMBLY);
}

int main(int argc, char **argv)
{
	static struct strips s;
	const double *x;
	SNES snes;
	Mat J;
	Vec v;
	PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
	PetscCall(PetscOptionsHasName(NULL, NULL, "-shell", &s.shell));
	PetscCall(make_contacts(&s));
	PetscCall(MatCreateSeqBAIJ(PETSC_COMM_SELF, 2, 2 * N, 2 * N, 3, NULL, &s.springs));
	PetscCall(add_springs(s.springs));
	PetscCall(MatAssemblyBegin(s.springs, MAT_FINAL_ASSEMBLY));
	PetscCall(MatAssemblyEnd(s.springs, MAT_FINAL_ASSEMBLY));
	PetscCall(MatCreateVecs(s.springs, &v, NULL));
	if (s.shell) {
		PetscCall(MatCreateShell(PETSC_COMM_SELF, 2 * N, 2 * N, 2 * N, 2 * N, &s, &J));
		PetscCall(MatShellSetOperation(J, MATOP_MULT, (void (*)(void))multiply));
	} else
		PetscCall(MatCreateSeqBAIJ(PETSC_COMM_SELF, 2, 2 * N, 2 * N, ROOM, NULL, &J));
	PetscCall(SNESCreate(PETSC_COMM_SELF, &snes));
	PetscCall(SNESSetFunction(snes, NULL, residual, &s));
	PetscCall(SNESSetJacobian(snes, J, J, jacobian, &s));
	PetscCall(SNESSetTolerances(snes, 0, 1e-12, 0, 50, PETSC_DEFAULT));
	PetscCall(SNESSetErrorIfNotConverged(snes, PETSC_TRUE));
	PetscCall(SNESSetFromOptions(snes));
	printf("pull, mN   lower wall   upper wall\n");
	for (s.pull = 1200; s.pull < 40000; s.pull *= 2) {
		PetscCall(SNESSolve(snes, NULL, v));
		PetscCall(VecGetArrayRead(v, &x));
		printf("%8.0f %12.6f %12.6f\n", s.pull, spring * x[0], spring * x[2 * LOWER]);
		PetscCall(VecRestoreArrayRead(v, &x));
	}
	fric_pattern_free(s.pattern);
	fric_contacts_free(s.contacts);
	PetscCall(SNESDestroy(&snes));
	PetscCall(MatDestroy(&J));
	PetscCall(MatDestroy(&s.springs));
	PetscCall(VecDestroy(&v));
	return PetscFinalize();
}
