// SPDX-License-Identifier: MIT
// A tile on the floor with a pin on top: posts the contacts as JSON, prints the forces and the sparse Hessian.
//
// c++ -std=c++17 examples/cpp/tile.cpp $(pkg-config --cflags --libs libcurl nlohmann_json eigen3) -o build/tile_cpp &&
//     build/tile_cpp [URL]
//
// URL of the service, default http://127.0.0.1:8080. Debian: libcurl4-gnutls-dev (or -openssl-dev) nlohmann-json3-dev
// libeigen3-dev
#include <Eigen/Sparse>
#include <cstdio>
#include <curl/curl.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

using nlohmann::json;

static std::size_t append(char *bytes, std::size_t size, std::size_t n, void *text)
{
	static_cast<std::string *>(text)->append(bytes, size * n);
	return size * n;
}

// Throws the service's reason if it refuses the request, with the JSON Pointer to the field at fault.
static json post(const std::string &base, const std::string &path, const json &document)
{
	const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> owner(curl_easy_init(), curl_easy_cleanup);
	const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(
		curl_slist_append(nullptr, "Content-Type: application/json"), curl_slist_free_all);
	const std::string url = base + path, body = document.dump();
	std::string text;
	CURL *const curl = owner.get();
	curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
	curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
	curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.c_str());
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, append);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, &text);
	const CURLcode code = curl_easy_perform(curl);
	if (code != CURLE_OK)
		throw std::runtime_error(base + ": " + curl_easy_strerror(code) + "; is it running?");

	long status = 0;
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	const json answer = json::parse(text);
	if (status == 200)
		return answer;
	std::string reason = std::to_string(status) + ": " + answer.at("detail").get<std::string>();
	for (const json &error : answer.value("errors", json::array()))
		reason += " (" + error.at("pointer").get<std::string>() + ")";
	throw std::runtime_error(reason);
}

static void print(const json &answer)
{
	const auto gradient = answer["gradient"].get<std::vector<double>>();
	std::printf("%d contacts, potential %.6f N m/s\n", answer["n_collisions"].get<int>(),
	            answer["potential"].get<double>());
	for (std::size_t i = 0; 3 * i < gradient.size(); i++)
		std::printf("friction on vertex %zu %9.5f %9.5f %9.5f N\n", i, 0 - gradient[3 * i], 0 - gradient[3 * i + 1],
		            0 - gradient[3 * i + 2]);

	const json &hessian = answer["hessian"];
	const auto indptr = hessian["indptr"].get<std::vector<int>>(), indices = hessian["indices"].get<std::vector<int>>();
	const auto data = hessian["data"].get<std::vector<double>>();
	const int n = hessian["shape"][0].get<int>(), n_entries = static_cast<int>(data.size());
	const Eigen::SparseMatrix<double, Eigen::RowMajor> H =
		Eigen::Map<const Eigen::SparseMatrix<double, Eigen::RowMajor>>(n, n, n_entries, indptr.data(), indices.data(),
	                                                                   data.data());
	const Eigen::MatrixXd dense(H);
	std::printf("Hessian %d x %d, %d entries, asymmetry %.1e N s/m\n", n, n, n_entries,
	            (dense - dense.transpose()).cwiseAbs().maxCoeff());
	std::printf("H[4, 4] = %.4f N s/m\n", H.coeff(4, 4));
}

int main(int argc, char **argv)
{
	json batch = {{"dim", 3}};
	batch["positions"] = {{0, 0, 0}, {0.1, 0, 0}, {0, 0.1, 0}, {0.025, 0.05, 0.001}};         // m; three corners, a pin
	batch["velocities"] = {{0.002, 0, 0}, {0.002, 0, 0}, {0.002, 0.0004, 0}, {0.01, 0, 0}};   // m/s
	batch["friction"] = {{"eps_v", 1e-3}, {"mu_s", 0.5}, {"mu_k", 0.3}};                      // eps_v in m/s
	batch["collisions"]["face_vertex"] = {{"vertices", {3, 0, 1, 2}}, {"normal_force", 2.0}}; // N; the pin
	batch["collisions"]["plane_vertex"] = {
		{"vertices", {0, 1, 2}}, {"plane_normal", {0, 0, 1}}, {"normal_force", {3.0, 2.5, 4.0}}};
	batch["hessian"] = {{"format", "csr"}, {"projection", "clamp"}};
	try {
		print(post(argc > 1 ? argv[1] : "http://127.0.0.1:8080", "/v1/evaluate", batch));
	} catch (const std::exception &reason) {
		std::fprintf(stderr, "%s\n", reason.what());
		return 1;
	}
	return 0;
}
