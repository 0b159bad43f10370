/* Measures the barrier's gradient and projected Hessian, compared with a plain C++ program in the same run: contacts one
 * after the other, with Eigen's vectors, matrices and eigenvalues, as solvers with a barrier do it. Prints one JSON
 * object per line; see `usage`. Both sides classify features anew for every result, and their results are compared
 * first. The plain program is compiled for this processor (-O3 -march=native). One thread, whose CPU time is measured. */
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include <Eigen/Dense>
#include <Eigen/Sparse>

#include "core/fric.h"

extern "C" {
#include "tests/bench/mix.h"
#include "tests/bench/warm.h"
}

namespace
{

const char usage[] = "usage: barrier [--mesh NAME] [N ...]\n"
					 "N: numbers of contacts, by default 100000\n"
					 "  --mesh NAME  sheets (the default), mix, pile, shuffled, random: tests/bench/mix.h\n";

enum { N_ROUNDS = 7 };

using Eigen::Vector3d;
template <int Rows, int Cols = 1> using Matrix = Eigen::Matrix<double, Rows, Cols>;

/* ---- the plain program ---- */

struct Plain {
	const double *positions;
	double dhat, stiffness;
	std::vector<std::array<int32_t, 4>> stencils;
	std::vector<enum fric_type> types;
	std::vector<double> mollifiers;
};

Vector3d at(const Plain &p, int32_t vertex)
{
	return Eigen::Map<const Vector3d>(p.positions + 3 * vertex);
}

/* A feature: its vertices, their weights in p - q for closest points p and q, and how these change along the feature's
 * M coordinates. */
template <int K, int M> struct Feature {
	std::array<int32_t, K> vertices;
	Matrix<K> weights;
	Matrix<K, M> turns;
};

/* The squared distance of a feature, its gradient, and its Hessian if it is wanted. */
template <int K> struct Distance {
	double d2;
	Matrix<3 * K> gradient;
	Matrix<3 * K, 3 * K> hessian;
};

template <int K, int M> Distance<K> distance_of(const Plain &p, const Feature<K, M> &f, bool with_hessian)
{
	Distance<K> out;
	Vector3d x[K], r = Vector3d::Zero();
	for (int k = 0; k < K; k++) {
		x[k] = at(p, f.vertices[k]);
		r += f.weights[k] * x[k];
	}
	out.d2 = r.squaredNorm();
	for (int k = 0; k < K; k++)
		out.gradient.template segment<3>(3 * k) = 2 * f.weights[k] * r;
	if (!with_hessian)
		return out;
	for (int k = 0; k < K; k++)
		for (int l = 0; l < K; l++)
			out.hessian.template block<3, 3>(3 * k, 3 * l) = 2 * f.weights[k] * f.weights[l] *
			                                                 Eigen::Matrix3d::Identity();
	if constexpr (M > 0) {
		Matrix<3, M> along = Matrix<3, M>::Zero();
		for (int k = 0; k < K; k++)
			along += x[k] * f.turns.row(k);
		Matrix<3 * K, M> mixed;
		for (int k = 0; k < K; k++)
			mixed.template middleRows<3>(3 * k) = f.weights[k] * along + r * f.turns.row(k);
		const Matrix<M, M> gram = along.transpose() * along;
		out.hessian -= 2 * mixed * gram.inverse() * mixed.transpose();
	}
	return out;
}

/* b and its derivatives with respect to the squared distance. */
struct Barrier {
	double value, first, second;
};

Barrier barrier_of(const Plain &p, double d2)
{
	const double top = p.dhat * p.dhat;
	if (d2 >= top)
		return {0, 0, 0};
	const double below = d2 - top, log = std::log(d2 / top);
	return {-p.stiffness * below * below * log, -p.stiffness * below * (2 * log + below / d2),
	        -p.stiffness * (2 * log + below / d2 * (4 - below / d2))};
}

template <int N> void project(Matrix<N, N> &hessian)
{
	Eigen::SelfAdjointEigenSolver<Matrix<N, N>> solver(hessian);
	if (solver.eigenvalues()[0] >= 0)
		return;
	const Matrix<N> clamped = solver.eigenvalues().cwiseMax(0);
	hessian = solver.eigenvectors() * clamped.asDiagonal() * solver.eigenvectors().transpose();
}

using Triplets = std::vector<Eigen::Triplet<double>>;

/* Where results go: one of both is there. */
struct Target {
	double *gradient;
	Triplets *triplets;
	double potential;
};

template <int K> void add_gradient(const std::array<int32_t, K> &vertices, const Matrix<3 * K> &local, double *gradient)
{
	for (int k = 0; k < K; k++)
		Eigen::Map<Vector3d>(gradient + 3 * vertices[k]) += local.template segment<3>(3 * k);
}

template <int K> void add_hessian(const std::array<int32_t, K> &vertices, Matrix<3 * K, 3 * K> &local, Triplets &out)
{
	project<3 * K>(local);
	for (int k = 0; k < 3 * K; k++)
		for (int l = 0; l < 3 * K; l++)
			out.emplace_back(3 * vertices[k / 3] + k % 3, 3 * vertices[l / 3] + l % 3, local(k, l));
}

template <int K, int M> void add(const Plain &p, const Feature<K, M> &f, Target &to)
{
	Distance<K> d = distance_of(p, f, to.triplets != nullptr);
	const Barrier b = barrier_of(p, d.d2);
	to.potential += b.value;
	if (b.first == 0)
		return;
	if (to.gradient)
		add_gradient<K>(f.vertices, b.first * d.gradient, to.gradient);
	if (!to.triplets)
		return;
	Matrix<3 * K, 3 *K> hessian = b.second * d.gradient * d.gradient.transpose() + b.first * d.hessian;
	add_hessian<K>(f.vertices, hessian, *to.triplets);
}

/* The mollifier of nearly parallel edges, as a factor of the barrier. */
using Edges = std::array<int32_t, 4>;

template <int K, int M>
void add_mollified(const Plain &p, const Feature<K, M> &f, const Edges &edges, const std::array<int, K> &members,
                   double limit, Target &to)
{
	const Vector3d u = at(p, edges[1]) - at(p, edges[0]), v = at(p, edges[3]) - at(p, edges[2]);
	const double uu = u.dot(u), vv = v.dot(v), uv = u.dot(v), c = uu * vv - uv * uv;
	const Distance<K> d = distance_of(p, f, to.triplets != nullptr);
	const Barrier b = barrier_of(p, d.d2);
	const double share = c / limit, m = (2 - share) * share, m1 = 2 * (1 - share) / limit, m2 = -2 / (limit * limit);
	to.potential += m * b.value;
	Matrix<6> of_edges;
	of_edges << 2 * (vv * u - uv * v), 2 * (uu * v - uv * u);
	Matrix<6, 12> differences = Matrix<6, 12>::Zero();
	differences.block<3, 3>(0, 3).setIdentity();
	differences.block<3, 3>(0, 0) = -Eigen::Matrix3d::Identity();
	differences.block<3, 3>(3, 9).setIdentity();
	differences.block<3, 3>(3, 6) = -Eigen::Matrix3d::Identity();
	const Matrix<12> c_gradient = differences.transpose() * of_edges;
	Matrix<12> d_gradient = Matrix<12>::Zero();
	for (int k = 0; k < K; k++)
		d_gradient.segment<3>(3 * members[k]) = d.gradient.template segment<3>(3 * k);
	if (to.gradient)
		add_gradient<4>(edges, b.value * m1 * c_gradient + m * b.first * d_gradient, to.gradient);
	if (!to.triplets)
		return;
	Matrix<6, 6> c_hessian;
	const Eigen::Matrix3d I = Eigen::Matrix3d::Identity();
	c_hessian.block<3, 3>(0, 0) = 2 * (vv * I - v * v.transpose());
	c_hessian.block<3, 3>(3, 3) = 2 * (uu * I - u * u.transpose());
	c_hessian.block<3, 3>(0, 3) = 2 * (2 * u * v.transpose() - v * u.transpose() - uv * I);
	c_hessian.block<3, 3>(3, 0) = c_hessian.block<3, 3>(0, 3).transpose();
	Matrix<12, 12> hessian =
		b.value * (m2 * c_gradient * c_gradient.transpose() + m1 * differences.transpose() * c_hessian * differences) +
		m1 * b.first * (c_gradient * d_gradient.transpose() + d_gradient * c_gradient.transpose()) +
		m * b.second * d_gradient * d_gradient.transpose();
	for (int k = 0; k < K; k++)
		for (int l = 0; l < K; l++)
			hessian.block<3, 3>(3 * members[k], 3 * members[l]) += m * b.first *
			                                                       d.hessian.template block<3, 3>(3 * k, 3 * l);
	add_hessian<4>(edges, hessian, *to.triplets);
}

/* ---- features: Voronoi regions ---- */

Feature<2, 0> pair_of(int32_t a, int32_t b)
{
	Feature<2, 0> f{{a, b}, {}, {}};
	f.weights << 1, -1;
	return f;
}

/* p and the point a + t (b - a). */
Feature<3, 1> edge_of(int32_t p, int32_t a, int32_t b, double t)
{
	Feature<3, 1> f{{p, a, b}, {}, {}};
	f.weights << 1, t - 1, -t;
	f.turns << 0, 1, -1;
	return f;
}

void add_edge_vertex(const Plain &p, int32_t v, int32_t a, int32_t b, Target &to)
{
	const Vector3d along = at(p, b) - at(p, a);
	const double t = (at(p, v) - at(p, a)).dot(along) / along.squaredNorm();
	if (t <= 0)
		add(p, pair_of(v, a), to);
	else if (t >= 1)
		add(p, pair_of(v, b), to);
	else
		add(p, edge_of(v, a, b, t), to);
}

void add_face_vertex(const Plain &p, int32_t v, int32_t a, int32_t b, int32_t c, Target &to)
{
	const Vector3d A = at(p, a), B = at(p, b), C = at(p, c), P = at(p, v), ab = B - A, ac = C - A;
	const double d1 = ab.dot(P - A), d2 = ac.dot(P - A), d3 = ab.dot(P - B), d4 = ac.dot(P - B), d5 = ab.dot(P - C),
				 d6 = ac.dot(P - C);
	if (d1 <= 0 && d2 <= 0)
		return add(p, pair_of(v, a), to);
	if (d3 >= 0 && d4 <= d3)
		return add(p, pair_of(v, b), to);
	if (d6 >= 0 && d5 <= d6)
		return add(p, pair_of(v, c), to);
	const double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
	if (vc <= 0 && d1 >= 0 && d3 <= 0)
		return add(p, edge_of(v, a, b, d1 / (d1 - d3)), to);
	if (vb <= 0 && d2 >= 0 && d6 <= 0)
		return add(p, edge_of(v, a, c, d2 / (d2 - d6)), to);
	if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0)
		return add(p, edge_of(v, b, c, (d4 - d3) / (d4 - d3 + (d5 - d6))), to);
	const double s = vb / (va + vb + vc), t = vc / (va + vb + vc);
	Feature<4, 2> f{{v, a, b, c}, {}, {}};
	f.weights << 1, s + t - 1, -s, -t;
	f.turns << 0, 0, 1, 1, -1, 0, 0, -1;
	add(p, f, to);
}

template <int K, int M>
void add_edges(const Plain &p, const Feature<K, M> &f, const Edges &edges, const std::array<int, K> &members,
               double mollifier, double cross, Target &to)
{
	if (cross < mollifier)
		add_mollified<K, M>(p, f, edges, members, mollifier, to);
	else
		add(p, f, to);
}

void add_edge_edge(const Plain &p, const Edges &e, double mollifier, Target &to)
{
	const Vector3d u = at(p, e[1]) - at(p, e[0]), v = at(p, e[3]) - at(p, e[2]), w = at(p, e[0]) - at(p, e[2]);
	const double a = u.dot(u), b = u.dot(v), c = v.dot(v), d = u.dot(w), q = v.dot(w), cross = a * c - b * b;
	double s = cross > 0 ? std::clamp((b * q - c * d) / cross, 0., 1.) : 0, t = (b * s + q) / c;
	if (t <= 0 || t >= 1) {
		t = t <= 0 ? 0 : 1;
		s = std::clamp((b * t - d) / a, 0., 1.);
	}
	const int i = s <= 0 ? 0 : s >= 1 ? 1 : -1, j = t <= 0 ? 2 : t >= 1 ? 3 : -1;
	if (i >= 0 && j >= 0)
		return add_edges<2, 0>(p, pair_of(e[i], e[j]), e, {i, j}, mollifier, cross, to);
	if (i >= 0)
		return add_edges<3, 1>(p, edge_of(e[i], e[2], e[3], t), e, {i, 2, 3}, mollifier, cross, to);
	if (j >= 0)
		return add_edges<3, 1>(p, edge_of(e[j], e[0], e[1], s), e, {j, 0, 1}, mollifier, cross, to);
	Feature<4, 2> f{{e[0], e[1], e[2], e[3]}, {}, {}};
	f.weights << 1 - s, s, t - 1, -t;
	f.turns << -1, 0, 1, 0, 0, 1, 0, -1;
	add_edges<4, 2>(p, f, e, {0, 1, 2, 3}, mollifier, cross, to);
}

double run(const Plain &p, double *gradient, Triplets *triplets)
{
	Target to{gradient, triplets, 0};
	for (size_t i = 0; i < p.stencils.size(); i++) {
		const auto &s = p.stencils[i];
		switch (p.types[i]) {
		case FRIC_VERTEX_VERTEX: add(p, pair_of(s[0], s[1]), to); break;
		case FRIC_EDGE_VERTEX: add_edge_vertex(p, s[0], s[1], s[2], to); break;
		case FRIC_EDGE_EDGE: add_edge_edge(p, s, p.mollifiers[i], to); break;
		default: add_face_vertex(p, s[0], s[1], s[2], s[3], to);
		}
	}
	return to.potential;
}

/* ---- both sides ---- */

void must(enum fric_code code)
{
	if (code == FRIC_OK)
		return;
	std::fprintf(stderr, "barrier: error %d\n", static_cast<int>(code));
	std::exit(1);
}

fric_error error;

struct Scene {
	mix of;
	std::vector<double> mollifiers;
	fric_context context{};
	fric_contacts *contacts = nullptr;
	fric_pattern *pattern = nullptr;
	size_t n_dofs = 0;
	Plain plain;
	double potential = 0, plain_potential = 0;
	std::vector<double> gradient, plain_gradient, inner, values, data;
	std::vector<int32_t> rows, cols;
	Triplets triplets;
	Eigen::SparseMatrix<double, Eigen::RowMajor> matrix;
};

/* IPC's: 1e-3 of the square of the product of the lengths. */
void give_mollifiers(Scene &s)
{
	fric_group &edges = s.of.batch.groups[FRIC_EDGE_EDGE];
	const double *x = s.of.positions;
	for (size_t i = 0; i < edges.n; i++) {
		double lengths[2] = {0, 0};
		for (int k = 0; k < 2; k++)
			for (int d = 0; d < 3; d++) {
				const int32_t *ends = edges.vertices + 4 * i + 2 * k;
				const double along = x[3 * ends[1] + d] - x[3 * ends[0] + d];
				lengths[k] += along * along;
			}
		s.mollifiers.push_back(1e-3 * lengths[0] * lengths[1]);
	}
	edges.mollifier = {s.mollifiers.data(), 1};
}

void fill_plain(Scene &s)
{
	s.plain.positions = s.of.positions;
	s.plain.dhat = s.of.batch.barrier.dhat;
	s.plain.stiffness = s.of.batch.barrier.stiffness;
	for (int type = 0; type <= FRIC_FACE_VERTEX; type++) {
		const fric_group &group = s.of.batch.groups[type];
		const int k = fric_stencil_size(static_cast<fric_type>(type));
		for (size_t i = 0; i < group.n; i++) {
			std::array<int32_t, 4> stencil{};
			std::copy(group.vertices + i * k, group.vertices + (i + 1) * k, stencil.begin());
			s.plain.stencils.push_back(stencil);
			s.plain.types.push_back(static_cast<fric_type>(type));
			s.plain.mollifiers.push_back(type == FRIC_EDGE_EDGE ? s.mollifiers[i] : 0);
		}
	}
}

void set_up(Scene &s, enum mesh mesh, size_t n)
{
	mix_make(n, mesh, &s.of);
	for (fric_group &group : s.of.batch.groups)
		group.normal_force = {nullptr, 0};
	give_mollifiers(s);
	fill_plain(s);
	s.of.batch.closest_features = FRIC_FEATURES_SEARCH;
	s.of.batch.terms = FRIC_TERM_BARRIER;
	s.context.n_threads = 1;
	must(fric_prepare(&s.context, &s.of.batch, &s.contacts, &error));
	must(fric_pattern_create(&s.context, s.contacts, FRIC_FULL, &s.pattern, &error));
	s.n_dofs = 3 * s.of.n_vertices;
	s.gradient.resize(s.n_dofs);
	s.plain_gradient.resize(s.n_dofs);
	s.inner.resize(fric_n_inner(s.contacts));
	s.rows.resize(fric_n_triplets(s.contacts, FRIC_FULL));
	s.cols.resize(s.rows.size());
	s.values.resize(s.rows.size());
	s.data.resize(fric_pattern_n_entries(s.pattern));
	s.matrix.resize(static_cast<Eigen::Index>(s.n_dofs), static_cast<Eigen::Index>(s.n_dofs));
}

void tear_down(Scene &s)
{
	fric_pattern_free(s.pattern);
	fric_contacts_free(s.contacts);
	mix_free(&s.of);
}

fric_query query_at(fric_current *current)
{
	fric_query query{};
	query.terms = FRIC_TERM_BARRIER;
	query.current = current;
	return query;
}

fric_current *current_of(Scene &s)
{
	fric_current *current;
	must(fric_current_create(&s.context, s.contacts, s.of.positions, &current, &error));
	return current;
}

void gradient(Scene &s)
{
	fric_current *current = current_of(s);
	const fric_query query = query_at(current);
	must(fric_evaluate(&s.context, s.contacts, &query, &s.potential, s.gradient.data(), &error));
	fric_current_free(current);
}

void blocks(Scene &s)
{
	fric_current *current = current_of(s);
	const fric_query query = query_at(current);
	must(fric_hessian_inner(&s.context, s.contacts, &query, FRIC_PROJECT_CLAMP, s.inner.data(), &error));
	fric_current_free(current);
}

void triplets(Scene &s)
{
	blocks(s);
	must(fric_hessian_triplets(&s.context, s.contacts, s.inner.data(), FRIC_FULL, s.rows.data(), s.cols.data(),
	                           s.values.data(), &error));
}

void csr_values(Scene &s)
{
	blocks(s);
	must(fric_hessian_csr(&s.context, s.contacts, s.inner.data(), s.pattern, s.data.data(), &error));
}

void plain_gradient(Scene &s)
{
	std::fill(s.plain_gradient.begin(), s.plain_gradient.end(), 0);
	s.plain_potential = run(s.plain, s.plain_gradient.data(), nullptr);
}

void plain_triplets(Scene &s)
{
	s.triplets.clear();
	run(s.plain, nullptr, &s.triplets);
}

void plain_matrix(Scene &s)
{
	plain_triplets(s);
	s.matrix.setFromTriplets(s.triplets.begin(), s.triplets.end());
}

const struct {
	const char *name;
	void (*ours)(Scene &), (*plain)(Scene &);
} measurements[] = {
	{"barrier_gradient", gradient, plain_gradient},
	{"barrier_triplets", triplets, plain_triplets},
	{"barrier_csr_values", csr_values, plain_matrix},
};
enum { N_MEASUREMENTS = sizeof(measurements) / sizeof(measurements[0]) };

double largest(const std::vector<double> &x)
{
	double most = 0;
	for (const double y : x)
		most = std::max(most, std::abs(y));
	return most;
}

/* The largest difference between both sides' results, relative to the largest number. */
double difference(Scene &s)
{
	for (const auto &m : measurements) {
		m.ours(s);
		m.plain(s);
	}
	double most = std::abs(s.potential - s.plain_potential) / s.plain_potential, apart = 0;
	for (size_t i = 0; i < s.n_dofs; i++)
		apart = std::max(apart, std::abs(s.gradient[i] - s.plain_gradient[i]));
	most = std::max(most, apart / largest(s.plain_gradient));
	apart = 0;
	const int64_t *indptr = fric_pattern_indptr(s.pattern);
	const int32_t *indices = fric_pattern_indices(s.pattern);
	for (size_t row = 0; row < s.n_dofs; row++) {
		std::vector<double> left(s.data.begin() + indptr[row], s.data.begin() + indptr[row + 1]);
		for (Eigen::SparseMatrix<double, Eigen::RowMajor>::InnerIterator it(s.matrix, static_cast<Eigen::Index>(row));
		     it; ++it)
			left[static_cast<size_t>(std::lower_bound(indices + indptr[row], indices + indptr[row + 1], it.col()) -
			                         (indices + indptr[row]))] -= it.value();
		apart = std::max(apart, largest(left));
	}
	return std::max(most, apart / largest(s.data));
}

double now()
{
	timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

double time_of(void (*work)(Scene &), Scene &s)
{
	const double start = now();
	work(s);
	return (now() - start) / static_cast<double>(s.of.n);
}

double median(std::vector<double> &times)
{
	std::sort(times.begin(), times.end());
	return times[times.size() / 2];
}

void measure(enum mesh mesh, size_t n)
{
	Scene s;
	set_up(s, mesh, n);
	const double apart = difference(s);
	std::vector<double> ours[N_MEASUREMENTS], plain[N_MEASUREMENTS];
	for (int round = 0; round < N_ROUNDS; round++)
		for (int m = 0; m < N_MEASUREMENTS; m++) {
			ours[m].push_back(time_of(measurements[m].ours, s));
			plain[m].push_back(time_of(measurements[m].plain, s));
		}
	for (int m = 0; m < N_MEASUREMENTS; m++) {
		std::printf("{\"n\": %zu, \"mesh\": \"%s\", \"what\": \"%s\", \"ns_per_contact\": %.1f, \"plain\": %.1f, "
		            "\"difference\": %.1e}\n",
		            n, mesh_names[mesh], measurements[m].name, median(ours[m]), median(plain[m]), apart);
		std::fflush(stdout);
	}
	tear_down(s);
}

[[noreturn]] void refuse()
{
	std::fputs(usage, stderr);
	std::exit(2);
}

enum mesh find_mesh(const char *name)
{
	for (int i = 0; name && i < N_MESHES; i++)
		if (std::strcmp(name, mesh_names[i]) == 0)
			return static_cast<enum mesh>(i);
	refuse();
}

size_t size_of(const char *text)
{
	char *end;
	const unsigned long n = std::strtoul(text, &end, 10);
	if (*end || n == 0)
		refuse();
	return n;
}

} // namespace

int main(int argc, char **argv)
{
	enum mesh mesh = MESH_SHEETS;
	int i = 1;
	if (argc > 1 && std::strcmp(argv[1], "--help") == 0) {
		std::fputs(usage, stdout);
		return 0;
	}
	if (argc > 1 && std::strcmp(argv[1], "--mesh") == 0) {
		mesh = find_mesh(argc > 2 ? argv[2] : nullptr);
		i = 3;
	}
	keep_memory_warm();
	if (i >= argc)
		measure(mesh, 100000);
	for (; i < argc; i++)
		measure(mesh, size_of(argv[i]));
	return 0;
}
