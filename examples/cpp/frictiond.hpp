// A client of frictiond in C++17, header-only. Needs libcurl and nlohmann/json (Debian: libcurl4-gnutls-dev or
// -openssl-dev, nlohmann-json3-dev); if Eigen is on the include path, hessian_matrix makes a sparse matrix.
//
//   frictiond::client service("http://127.0.0.1:8080");
//   frictiond::answer answer = service.evaluate(batch);
//   std::vector<double> gradient = answer.array<double>("/gradient");
//
//   frictiond::collision_set contacts = service.set(lagged);       // what the service keeps prepared, until its end
//   frictiond::answer first = contacts.evaluate({{"velocities", velocities}});
//
// A batch is a document of docs/api.md. As nlohmann::json it is sent as text; a frictiond::frame carries its vectors in
// binary. Answers come as frames, so their numbers never become text either. Doubles are the same at both ends.
#pragma once

#include <curl/curl.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <strings.h>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#if __has_include(<Eigen/Sparse>)
#include <Eigen/Sparse>
#endif

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "frames are little-endian: swap the bytes of the numbers here"
#endif

namespace frictiond
{

using json = nlohmann::json;

// What went wrong. status: the HTTP status, or 0 if no answer came or it is not what was asked for. pointer: JSON
// Pointer to the culprit in the request, or empty. code: for programs ("unknown_set"), or empty.
class error : public std::runtime_error
{
  public:
	error(long number, const std::string &words, const std::string &place = {}, std::string id = {},
	      std::string word = {})
		: std::runtime_error((number ? std::to_string(number) + ": " : "") + words +
	                         (place.empty() ? "" : " (" + place + ")")),
		  status(number), detail(words), pointer(place), request_id(std::move(id)), code(std::move(word))
	{
	}

	long status;
	std::string detail, pointer, request_id, code;
};

template <class T> constexpr const char *dtype()
{
	static_assert(std::is_same_v<T, double> || std::is_same_v<T, float> || std::is_same_v<T, std::int32_t> ||
	                  std::is_same_v<T, std::uint32_t> || std::is_same_v<T, std::int64_t>,
	              "a frame holds double, float, int32_t, uint32_t, int64_t");
	if constexpr (std::is_same_v<T, double>)
		return "f64";
	else if constexpr (std::is_same_v<T, float>)
		return "f32";
	else if constexpr (std::is_same_v<T, std::int32_t>)
		return "i32";
	else if constexpr (std::is_same_v<T, std::uint32_t>)
		return "u32";
	else
		return "i64";
}

// A batch whose vectors travel in binary: batch.document["velocities"] = batch.add(velocities, {n_vertices, 3}).
class frame
{
  public:
	json document;

	// Copies the numbers (shape: by default [numbers.size()]) and returns the value that takes their place in the
	// document.
	template <class T> json add(const std::vector<T> &numbers, std::vector<std::size_t> shape = {})
	{
		if (shape.empty())
			shape = {numbers.size()};
		return add(dtype<T>(), std::move(shape), reinterpret_cast<const char *>(numbers.data()),
		           numbers.size() * sizeof(T));
	}

	// The frame after a JSON Merge Patch (RFC 7396), with the arrays that are still in it and no others.
	frame merged(const frame &patch) const
	{
		frame both, after;
		both.document = both.carry(document, *this);
		merge(both.document, both.carry(patch.document, patch));
		after.document = after.carry(both.document, both);
		return after;
	}

	// The bytes: the length of the document, the document, spaces up to a multiple of 64, the numbers.
	std::string bytes() const
	{
		std::string text = document.dump();
		text.resize((8 + text.size() + 63) / 64 * 64 - 8, ' ');
		const std::uint64_t length = text.size();
		return std::string(reinterpret_cast<const char *>(&length), 8) + text + tail;
	}

  private:
	json add(const char *type, json shape, const char *numbers, std::size_t n_bytes)
	{
		tail.resize((tail.size() + 63) / 64 * 64);
		const std::size_t offset = tail.size();
		tail.append(numbers, n_bytes);
		return {{"dtype", type}, {"shape", std::move(shape)}, {"offset", offset}};
	}

	static bool is_reference(const json &value)
	{
		return value.is_object() && value.contains("dtype");
	}

	// A value of another frame, its arrays copied into this one.
	json carry(const json &value, const frame &from)
	{
		if (is_reference(value)) {
			const std::string type = value.at("dtype").get<std::string>();
			std::size_t n_bytes = type == "f64" || type == "i64" ? 8 : 4;
			for (const json &count : value.at("shape"))
				n_bytes *= count.get<std::size_t>();
			const std::size_t offset = value.at("offset").get<std::size_t>();
			if (offset > from.tail.size() || n_bytes > from.tail.size() - offset)
				throw error(0, "an array leaves the frame");
			return add(type.c_str(), value.at("shape"), from.tail.data() + offset, n_bytes);
		}
		if (!value.is_object())
			return value;
		json moved = json::object();
		for (const auto &[name, member] : value.items())
			moved[name] = carry(member, from);
		return moved;
	}

	// json::merge_patch would merge references with what they replace.
	static void merge(json &target, const json &patch)
	{
		for (const auto &[name, value] : patch.items()) {
			if (value.is_null())
				target.erase(name);
			else if (!value.is_object() || is_reference(value))
				target[name] = value;
			else {
				if (!target.contains(name) || !target[name].is_object() || is_reference(target[name]))
					target[name] = json::object();
				merge(target[name], value);
			}
		}
	}

	std::string tail;
};

class collision_set;

// An answer; the long arrays of its document are in the tail of the body.
class answer
{
  public:
	json document;

	explicit answer(std::string bytes) : body(std::move(bytes))
	{
		std::uint64_t length = 0;
		if (body.size() >= 8)
			std::memcpy(&length, body.data(), 8);
		if (length == 0 || length > body.size() - 8)
			throw error(0, "the answer is not a frame");
		tail = 8 + static_cast<std::size_t>(length);
		document = json::parse(body.begin() + 8, body.begin() + static_cast<std::ptrdiff_t>(tail));
	}

	// A member: answer["potential"].get<double>().
	const json &operator[](const char *name) const
	{
		return document.at(name);
	}

	// The numbers of an array, row by row: reals, array<double>("/gradient"), or integers (indices, status),
	// array<std::int32_t>("/hessian/indptr").
	template <class T> std::vector<T> array(const std::string &pointer) const
	{
		static_assert(std::is_same_v<T, double> || std::is_same_v<T, std::int32_t>, "double or int32_t");
		const json &value = document.at(json::json_pointer(pointer));
		std::vector<T> numbers;
		if (!value.is_object())
			flatten(pointer, value, numbers);
		else if (value.at("dtype") != dtype<T>())
			throw error(0, pointer + " is not an array of " + dtype<T>());
		else
			copy(value, numbers);
		return numbers;
	}

	// The numbers of a vjp's cotangent of a field, cotangent("/positions"); one for a field that is a number.
	std::vector<double> cotangent(const std::string &field) const
	{
		const json &value = document.at("cotangents").at(field);
		if (value.is_number())
			return {value.get<double>()};
		return array<double>((json::json_pointer("/cotangents") / field).to_string());
	}

  private:
	// As strict as for arrays in the tail, so that what works for a few contacts also works for many.
	template <class T> static void flatten(const std::string &pointer, const json &value, std::vector<T> &numbers)
	{
		if (value.is_array())
			for (const json &entry : value)
				flatten(pointer, entry, numbers);
		else if (std::is_same_v<T, double> ? value.is_number_float() : value.is_number_integer())
			numbers.push_back(value.get<T>());
		else
			throw error(0, pointer + " is not an array of " + dtype<T>());
	}

	template <class T> void copy(const json &reference, std::vector<T> &numbers) const
	{
		std::size_t n = 1;
		for (const json &count : reference.at("shape"))
			n *= count.get<std::size_t>();
		const std::size_t offset = reference.at("offset").get<std::size_t>(), room = body.size() - tail;
		if (offset > room || n > (room - offset) / sizeof(T))
			throw error(0, "an array leaves the frame");
		numbers.resize(n);
		if (n)
			std::memcpy(numbers.data(), body.data() + tail + offset, n * sizeof(T));
	}

	std::string body;
	std::size_t tail = 0;
};

// A service, with a connection that is kept open. For one thread at a time.
class client
{
  public:
	// url: "http://...", "https://...", or "http+unix:///PATH" for the Unix-domain socket /PATH. retries: how often a request is repeated when the service is busy (429, 502, 503, 504) or the connection
	// fails. timeout: seconds for each try.
	explicit client(const std::string &url = "http://127.0.0.1:8080", std::string token = {}, int retries = 5,
	                long timeout = 300)
		: url_(url.substr(0, url.find_last_not_of('/') + 1)), token_(std::move(token)), retries_(retries),
		  timeout_(timeout), curl_(curl_easy_init())
	{
		if (!curl_)
			throw std::bad_alloc();
	}

	answer evaluate(const json &batch)
	{
		return answer(ask("/v1/evaluate", batch.dump(), text_type, frame_type));
	}

	answer evaluate(const frame &batch)
	{
		return answer(ask("/v1/evaluate", batch.bytes(), frame_type, frame_type));
	}

	// Derivatives (docs/derivatives.md) along tangents, {{"/velocities", ...}, {"/friction/mu_s", 1}}, as
	// array<double>("/tangents/gradient") of the answer. batch: as for evaluate, without outputs and their options; what
	// batch.add has returned may be among the tangents.
	answer jvp(json batch, const json &tangents)
	{
		batch["tangents"] = tangents;
		return answer(ask("/v1/jvp", batch.dump(), text_type, frame_type));
	}

	answer jvp(frame batch, const json &tangents)
	{
		batch.document["tangents"] = tangents;
		return answer(ask("/v1/jvp", batch.bytes(), frame_type, frame_type));
	}

	// The derivatives of the sum of answers times cotangents, {{"potential", 1}, {"gradient", ...}}, by the fields of wrt,
	// {"/positions", ...}, as answer.cotangent("/positions").
	answer vjp(json batch, const json &cotangents, const std::vector<std::string> &wrt)
	{
		batch["cotangents"] = cotangents;
		batch["wrt"] = wrt;
		return answer(ask("/v1/vjp", batch.dump(), text_type, frame_type));
	}

	answer vjp(frame batch, const json &cotangents, const std::vector<std::string> &wrt)
	{
		batch.document["cotangents"] = cotangents;
		batch.document["wrt"] = wrt;
		return answer(ask("/v1/vjp", batch.bytes(), frame_type, frame_type));
	}

	// Leaves contacts with the service. batch: as for evaluate, without velocities, outputs and their options. name:
	// by default a random one.
	collision_set set(const json &batch, std::string name = {});
	collision_set set(const frame &batch, std::string name = {});

	json check(const json &batch)
	{
		return json::parse(ask("/v1/check", batch.dump(), text_type, text_type));
	}

	// A scalar function at many points: service.function("smooth_mu", {{"y", y}, {"mu_s", 1}, {"mu_k", 0.1}, ...}).
	std::vector<double> function(const std::string &name, const json &parameters)
	{
		const answer values(ask("/v1/functions/" + name, parameters.dump(), text_type, frame_type));
		return values.array<double>("/values");
	}

	json functions()
	{
		return json::parse(ask("/v1/functions", {}, nullptr, text_type)).at("functions");
	}

	json info()
	{
		return json::parse(ask("/v1/info", {}, nullptr, text_type));
	}

  private:
	friend class collision_set;
	static constexpr const char *text_type = "application/json", *frame_type = "application/vnd.frictiond.frame";

	struct cleanup {
		void operator()(CURL *handle) const
		{
			curl_easy_cleanup(handle);
		}
		void operator()(curl_slist *list) const
		{
			curl_slist_free_all(list);
		}
	};

	struct response {
		CURLcode code = CURLE_OK;
		long status = 0;
		double seconds = 0; // when to try again, if the service says so
		std::string body, request_id, words;
	};

	static std::size_t take_body(char *bytes, std::size_t size, std::size_t n, void *target)
	{
		static_cast<std::string *>(target)->append(bytes, size * n);
		return size * n;
	}

	static std::size_t take_head(char *bytes, std::size_t size, std::size_t n, void *target)
	{
		const std::string line(bytes, size * n), name = "X-Request-Id: ";
		if (line.size() > name.size() && strncasecmp(line.c_str(), name.c_str(), name.size()) == 0)
			*static_cast<std::string *>(target) = line.substr(name.size(), line.find('\r') - name.size());
		return size * n;
	}

	using header_list = std::unique_ptr<curl_slist, cleanup>;

	header_list headers(const char *type, const char *accept, const std::string &version) const
	{
		std::vector<std::string> lines{"Expect:", std::string("Accept: ") + accept};
		if (type)
			lines.push_back(std::string("Content-Type: ") + type);
		if (!version.empty())
			lines.push_back("If-Collision-Set-Version: " + version);
		if (!token_.empty())
			lines.push_back("Authorization: Bearer " + token_);
		header_list list;
		for (const std::string &line : lines) {
			curl_slist *longer = curl_slist_append(list.get(), line.c_str());
			if (!longer)
				throw std::bad_alloc();
			list.release();
			list.reset(longer);
		}
		return list;
	}

	// Tries once. type null: no body.
	response exchange(const char *method, const std::string &path, const std::string &body, const char *type,
	                  curl_slist *list)
	{
		CURL *handle = curl_.get();
		response result;
		char words[CURL_ERROR_SIZE] = "";
		curl_easy_reset(handle); // keeps the connection
		const bool is_unix = url_.compare(0, unix_scheme.size(), unix_scheme) == 0;
		curl_easy_setopt(handle, CURLOPT_URL, ((is_unix ? "http://localhost" : url_) + path).c_str());
		curl_easy_setopt(handle, CURLOPT_UNIX_SOCKET_PATH, is_unix ? url_.c_str() + unix_scheme.size() : nullptr);
		curl_easy_setopt(handle, CURLOPT_HTTPHEADER, list);
		curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L); // signals and threads do not mix
		curl_easy_setopt(handle, CURLOPT_TIMEOUT, timeout_);
		curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, words);
		curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_body);
		curl_easy_setopt(handle, CURLOPT_WRITEDATA, &result.body);
		curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, take_head);
		curl_easy_setopt(handle, CURLOPT_HEADERDATA, &result.request_id);
		if (type) {
			curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
			curl_easy_setopt(handle, CURLOPT_POSTFIELDS, body.data());
		}
		curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, method);
		result.code = curl_easy_perform(handle);
		result.words = words[0] ? words : curl_easy_strerror(result.code);
		curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, nullptr);
		curl_off_t after = 0;
		curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &result.status);
		curl_easy_getinfo(handle, CURLINFO_RETRY_AFTER, &after);
		result.seconds = static_cast<double>(after);
		return result;
	}

	static bool again(const response &result)
	{
		switch (result.code) {
		case CURLE_OK: return result.status == 429 || (result.status >= 502 && result.status <= 504);
		case CURLE_COULDNT_CONNECT:
		case CURLE_PARTIAL_FILE:
		case CURLE_GOT_NOTHING:
		case CURLE_SEND_ERROR:
		case CURLE_RECV_ERROR: return true;
		default: return false;
		}
	}

	[[noreturn]] static void refuse(const response &result)
	{
		const json problem = json::parse(result.body, nullptr, false); // a proxy's page is not JSON
		if (!problem.is_object() || !problem.contains("detail"))
			throw error(result.status, "the answer is not from frictiond", {}, result.request_id);
		const json errors = problem.value("errors", json::array());
		throw error(result.status, problem.at("detail").get<std::string>(),
		            errors.empty() ? "" : errors.at(0).value("pointer", ""), result.request_id,
		            problem.value("code", ""));
	}

	std::string ask(const std::string &path, const std::string &body, const char *type, const char *accept)
	{
		return ask(type ? "POST" : "GET", path, body, type, accept, {});
	}

	std::string ask(const char *method, const std::string &path, const std::string &body, const char *type,
	                const char *accept, const std::string &version)
	{
		const header_list list = headers(type, accept, version);
		response result = exchange(method, path, body, type, list.get());
		double seconds = 0.1;
		for (int attempt = 0; again(result) && attempt < retries_; attempt++, seconds *= 2) {
			std::this_thread::sleep_for(
				std::chrono::duration<double>(std::min(std::max(seconds, result.seconds), 10.0)));
			result = exchange(method, path, body, type, list.get());
		}
		if (result.code != CURLE_OK)
			throw error(0, "no answer from " + url_ + ": " + result.words +
			                   (result.code == CURLE_COULDNT_CONNECT ? "; is it running?" : ""));
		if (result.status != 200 && result.status != 201 && result.status != 204)
			refuse(result);
		return std::move(result.body);
	}

	std::string escaped(const std::string &name) const
	{
		char *text = curl_easy_escape(curl_.get(), name.c_str(), static_cast<int>(name.size()));
		if (!text)
			throw std::bad_alloc();
		std::string path = text;
		curl_free(text);
		return path;
	}

	inline static const std::string unix_scheme = "http+unix://";
	std::string url_, token_;
	int retries_;
	long timeout_;
	std::unique_ptr<CURL, cleanup> curl_;
};

// Contacts that the service keeps prepared, made by client::set; its client must outlive it, and serves one thread at a
// time. The service may forget a set, or be replaced by one that never had it; then it is put again as it was sent and
// patched. Every request says which version of the set it means, so no answer is about contacts that somebody else has
// put under the name. The destructor deletes the set; if that fails, the service forgets it later.
class collision_set
{
  public:
	const std::string name;

	collision_set(client &service, frame batch, std::string called)
		: name(called.empty() ? random_name() : std::move(called)), service_(service),
		  path_("/v1/sets/" + service.escaped(name)), batch_(std::move(batch))
	{
		put(batch_);
	}

	collision_set(const collision_set &) = delete;
	collision_set &operator=(const collision_set &) = delete;

	~collision_set()
	{
		try {
			service_.ask("DELETE", path_, {}, nullptr, client::text_type, version_);
		} catch (const std::exception &) {
		}
	}

	// The answer to a question: velocities, body_velocities, outputs ..., as from client::evaluate for the whole batch.
	answer evaluate(const json &question)
	{
		return answer(post("/evaluate", question.dump(), client::text_type, client::frame_type));
	}

	answer evaluate(const frame &question)
	{
		return answer(post("/evaluate", question.bytes(), client::frame_type, client::frame_type));
	}

	json check(const json &question)
	{
		return json::parse(post("/check", question.dump(), client::text_type, client::text_type));
	}

	// Derivatives, as from the client, by fields of the set or of the question.
	answer jvp(json question, const json &tangents)
	{
		question["tangents"] = tangents;
		return answer(post("/jvp", question.dump(), client::text_type, client::frame_type));
	}

	answer jvp(frame question, const json &tangents)
	{
		question.document["tangents"] = tangents;
		return answer(post("/jvp", question.bytes(), client::frame_type, client::frame_type));
	}

	answer vjp(json question, const json &cotangents, const std::vector<std::string> &wrt)
	{
		question["cotangents"] = cotangents;
		question["wrt"] = wrt;
		return answer(post("/vjp", question.dump(), client::text_type, client::frame_type));
	}

	answer vjp(frame question, const json &cotangents, const std::vector<std::string> &wrt)
	{
		question.document["cotangents"] = cotangents;
		question.document["wrt"] = wrt;
		return answer(post("/vjp", question.bytes(), client::frame_type, client::frame_type));
	}

	// The sparsity of the Hessian. format: csr, bsr, triplets; triangle: full, upper, lower.
	answer pattern(const std::string &format = "csr", const std::string &triangle = "full")
	{
		const std::string path = path_ + "/pattern?format=" + format + "&triangle=" + triangle;
		return answer(mended([&] { return service_.ask("GET", path, {}, nullptr, client::frame_type, version_); }));
	}

	// New values for members of the batch; null removes one (JSON Merge Patch). If the service refuses the patch, the
	// set stays as it was.
	void patch(const json &fields)
	{
		frame plain;
		plain.document = fields;
		patch(plain);
	}

	void patch(const frame &fields)
	{
		frame after = batch_.merged(fields);
		try {
			send("PATCH", fields, version_);
		} catch (const error &reason) {
			if (!is_lost(reason))
				throw;
			put(after);
		}
		batch_ = std::move(after);
	}

	// Patches the anchors with those of an answer (outputs: collisions, collision_outputs: anchor): what the sticking contacts remember in
	// the next step. ratio: this step's length divided by the next one's, if velocities are velocities. The next step's
	// contacts must be the same; anchors of others are yours to match.
	void carry(const answer &from, double ratio = 1)
	{
		frame fields;
		const json groups = from.document.value("collisions", json::object());
		for (const auto &[group, values] : groups.items()) {
			if (!values.contains("anchor"))
				continue;
			std::vector<double> anchor = from.array<double>("/collisions/" + group + "/anchor");
			for (double &component : anchor)
				component *= ratio;
			fields.document["collisions"][group]["anchor"] = fields.add(anchor, {anchor.size()});
		}
		if (fields.document.is_null())
			throw error(0, "the answer has no anchors: ask for outputs collisions, collision_outputs anchor");
		patch(fields);
	}

  private:
	static std::string random_name()
	{
		static const char digits[] = "0123456789abcdef";
		std::random_device source;
		std::string text;
		for (int i = 0; i < 32; i++)
			text += digits[source() % 16];
		return text;
	}

	static bool is_lost(const error &reason)
	{
		return reason.code == "unknown_set" || reason.code == "set_changed";
	}

	void send(const char *method, const frame &document, const std::string &version)
	{
		const std::string text =
			service_.ask(method, path_, document.bytes(), client::frame_type, client::text_type, version);
		version_ = json::parse(text).at("version").get<std::string>();
	}

	void put(const frame &document)
	{
		send("PUT", document, {});
	}

	std::string post(const char *which, const std::string &body, const char *type, const char *accept)
	{
		return mended([&] { return service_.ask("POST", path_ + which, body, type, accept, version_); });
	}

	// Asks, and again after putting the set again where it was lost, at most twice.
	template <class F> std::string mended(const F &ask)
	{
		for (int attempt = 0;; attempt++) {
			try {
				return ask();
			} catch (const error &reason) {
				if (!is_lost(reason) || attempt == 2)
					throw;
			}
			put(batch_);
		}
	}

	client &service_;
	const std::string path_;
	frame batch_;
	std::string version_;
};

inline collision_set client::set(const frame &batch, std::string name)
{
	return {*this, batch, std::move(name)};
}

inline collision_set client::set(const json &batch, std::string name)
{
	frame plain;
	plain.document = batch;
	return {*this, std::move(plain), std::move(name)};
}

#if __has_include(<Eigen/Sparse>)
// The Hessian of an answer in format triplets or csr. A triangle is not completed to the full matrix.
inline Eigen::SparseMatrix<double, Eigen::RowMajor> hessian_matrix(const answer &answer)
{
	const json &hessian = answer["hessian"];
	const std::string format = hessian.at("format").get<std::string>();
	const int n = hessian.at("shape").at(0).get<int>();
	if (format == "csr") {
		const auto indptr = answer.array<std::int32_t>("/hessian/indptr");
		const auto indices = answer.array<std::int32_t>("/hessian/indices");
		const auto data = answer.array<double>("/hessian/data");
		return Eigen::Map<const Eigen::SparseMatrix<double, Eigen::RowMajor>>(
			n, n, static_cast<int>(data.size()), indptr.data(), indices.data(), data.data());
	}
	if (format != "triplets")
		throw error(0, "the Hessian came as " + format + ": ask for triplets or csr");
	const auto rows = answer.array<std::int32_t>("/hessian/rows");
	const auto columns = answer.array<std::int32_t>("/hessian/cols");
	const auto values = answer.array<double>("/hessian/values");
	std::vector<Eigen::Triplet<double>> triplets;
	triplets.reserve(values.size());
	for (std::size_t k = 0; k < values.size(); k++)
		triplets.emplace_back(rows[k], columns[k], values[k]);
	Eigen::SparseMatrix<double, Eigen::RowMajor> matrix(n, n);
	matrix.setFromTriplets(triplets.begin(), triplets.end()); // duplicates add up
	return matrix;
}
#endif

} // namespace frictiond
