// A tile on the floor with a pin on top: friction of the contacts, and the sparse Hessian.
//
// c++ -std=c++17 examples/cpp/tile.cpp $(pkg-config --cflags --libs libcurl nlohmann_json eigen3) -o build/tile_cpp &&
//     build/tile_cpp [URL]
//
// URL of the service, default http://127.0.0.1:8080. Debian: libcurl4-gnutls-dev (or -openssl-dev) nlohmann-json3-dev
// libeigen3-dev
#include "frictiond.hpp"
#include <cstdio>

static frictiond::json tile_batch()
{
	// m and m/s; three corners, a pin
	const std::vector<double> positions{0, 0, 0, 0.1, 0, 0, 0, 0.1, 0, 0.025, 0.05, 0.001};
	const std::vector<double> velocities{0.002, 0, 0, 0.002, 0, 0, 0.002, 0.0004, 0, 0.01, 0, 0};
	frictiond::json batch;
	batch["dim"] = 3;
	batch["positions"] = positions; // an array may be flat
	batch["velocities"] = velocities;
	batch["friction"] = {{"eps_v", 1e-3}, {"mu_s", 0.5}, {"mu_k", 0.3}};                      // eps_v in m/s
	batch["collisions"]["face_vertex"] = {{"vertices", {3, 0, 1, 2}}, {"normal_force", 2.0}}; // N; the pin
	batch["collisions"]["plane_vertex"] = {
		{"vertices", {0, 1, 2}}, {"plane_normal", {0, 0, 1}}, {"normal_force", {3.0, 2.5, 4.0}}};
	batch["hessian"] = {{"format", "csr"}, {"projection", "clamp"}};
	return batch;
}

static void print(const frictiond::answer &answer)
{
	const auto gradient = answer.array<double>("/gradient");
	std::printf("%d contacts, potential %.6f N m/s\n", answer["n_collisions"].get<int>(),
	            answer["potential"].get<double>());
	for (std::size_t i = 0; 3 * i < gradient.size(); i++)
		std::printf("friction on vertex %zu %9.5f %9.5f %9.5f N\n", i, 0 - gradient[3 * i], 0 - gradient[3 * i + 1],
		            0 - gradient[3 * i + 2]);
	const auto H = frictiond::hessian_matrix(answer);
	const Eigen::MatrixXd difference = H - Eigen::SparseMatrix<double, Eigen::RowMajor>(H.transpose());
	std::printf("Hessian %d x %d, %d entries, asymmetry %.1e N s/m\n", static_cast<int>(H.rows()),
	            static_cast<int>(H.cols()), static_cast<int>(H.nonZeros()), difference.cwiseAbs().maxCoeff());
	std::printf("H[4, 4] = %.4f N s/m\n", H.coeff(4, 4));
}

int main(int argc, char **argv)
{
	try {
		frictiond::client service(argc > 1 ? argv[1] : "http://127.0.0.1:8080");
		print(service.evaluate(tile_batch()));
	} catch (const std::exception &reason) {
		std::fprintf(stderr, "%s\n", reason.what());
		return 1;
	}
	return 0;
}
