// See tests/examples/native.py.
#include "../../../examples/cpp/frictiond.hpp"
#include <cstdio>
#include <fstream>

static void print(const std::vector<double> &numbers)
{
	for (const double number : numbers)
		std::printf("%.17g\n", number);
}

static void contacts(frictiond::client &service, const std::vector<std::int32_t> &vertices)
{
	frictiond::frame batch;
	frictiond::json floor{{"plane_normal", {0, 0, 1}}};
	floor["vertices"] = batch.add(vertices);
	floor["normal_force"] = batch.add(std::vector<double>(vertices.size(), 9.81));
	batch.document["dim"] = 3;
	batch.document["velocities"] = batch.add(std::vector<double>{0.02, 0.01, 0}, {1, 3});
	batch.document["friction"] = {{"eps_v", 1e-3}, {"mu", 0.3}};
	batch.document["collisions"]["plane_vertex"] = floor;
	batch.document["outputs"] = {"potential", "gradient", "collisions"};
	batch.document["collision_outputs"] = std::vector<std::string>{"potential"};
	const frictiond::answer answer = service.evaluate(batch);
	print(answer.array<double>("/gradient"));
	print({answer["potential"].get<double>()});
	print(answer.array<double>("/collisions/plane_vertex/potential"));
}

static void exact(frictiond::client &service, const char *name)
{
	std::ifstream file(name);
	std::vector<double> y;
	for (std::string number; file >> number;)
		y.push_back(std::strtod(number.c_str(), nullptr));
	print(service.function("smooth_friction_f0", {{"y", y}, {"eps_v", 1e-300}}));
}

static frictiond::json take(frictiond::frame &frame, const frictiond::json &rows)
{
	std::vector<double> numbers;
	for (const auto &row : rows)
		for (const auto &number : row)
			numbers.push_back(number.get<double>());
	return frame.add(numbers, {rows.size(), 3});
}

static frictiond::frame with_array(const frictiond::json &document, const char *name)
{
	frictiond::frame frame;
	frame.document = document;
	frame.document[name] = take(frame, document.at(name));
	return frame;
}

static void sets(frictiond::client &service, const char *name)
{
	const auto file = frictiond::json::parse(std::ifstream(name));
	const auto question = with_array(file.at("question"), "velocities");
	auto contacts = service.set(with_array(file.at("lagged"), "positions"), file.value("name", ""));
	print(contacts.evaluate(question).array<double>("/gradient"));
	contacts.patch(with_array(file.at("patch"), "positions"));
	print(contacts.evaluate(file.at("question")).array<double>("/gradient"));
	for (const auto index : contacts.pattern("csr", "upper").array<std::int32_t>("/indices"))
		std::printf("%d\n", index);
	const frictiond::json answer = contacts.check({{"velocities", file.at("question").at("velocities")}});
	std::printf("%d\n", answer.at("agrees").get<bool>());
}

static void carry(frictiond::client &service, const char *name)
{
	const auto file = frictiond::json::parse(std::ifstream(name));
	auto contacts = service.set(file.at("set"));
	for (int step = 0; step < 2; step++) {
		const frictiond::answer answer = contacts.evaluate(file.at("question"));
		for (const auto &pointer : file.at("read"))
			print(answer.array<double>(pointer.get<std::string>()));
		if (step == 0)
			contacts.carry(answer, file.at("ratio").get<double>());
	}
}

static void tell(const frictiond::answer &forward, const frictiond::answer &backward, const frictiond::json &wrt)
{
	for (const char *name : {"potential", "gradient", "body_gradient"}) {
		const auto &tangents = forward["tangents"];
		if (!tangents.contains(name))
			continue;
		if (tangents.at(name).is_number())
			print({tangents.at(name).get<double>()});
		else
			print(forward.array<double>(std::string("/tangents/") + name));
	}
	for (const auto &field : wrt)
		print(backward.cotangent(field.get<std::string>()));
}

// Asks as JSON, as a frame, and of a set: the same numbers three times.
static void derive(frictiond::client &service, const char *name)
{
	const auto file = frictiond::json::parse(std::ifstream(name));
	const auto &question = file.at("question"), &cotangents = file.at("cotangents");
	const auto wrt = file.at("wrt").get<std::vector<std::string>>();
	frictiond::json tangents, whole = file.at("set");
	for (std::size_t i = 0; i < file.at("along").size(); i++)
		tangents[file.at("along")[i].get<std::string>()] = file.at("values").at("v" + std::to_string(i));
	whole.update(question);
	tell(service.jvp(whole, tangents), service.vjp(whole, cotangents, wrt), wrt);
	frictiond::frame batch;
	batch.document = whole;
	auto moved = cotangents;
	moved["gradient"] = batch.add(cotangents.at("gradient").get<std::vector<double>>());
	tell(service.jvp(batch, tangents), service.vjp(batch, moved, wrt), wrt);
	auto contacts = service.set(file.at("set"));
	tell(contacts.jvp(question, tangents), contacts.vjp(question, cotangents, wrt), wrt);
}

static void law(frictiond::client &service, const char *name)
{
	const auto file = frictiond::json::parse(std::ifstream(name));
	print(service.function(file.at("name").get<std::string>(), file.at("parameters")));
}

int main(int argc, char **argv)
{
	const std::string what = argv[2];
	try {
		frictiond::client service(argv[1], argc > 3 && what == "token" ? argv[3] : "");
		if (what == "exact")
			exact(service, argv[3]);
		else if (what == "set")
			sets(service, argv[3]);
		else if (what == "carry")
			carry(service, argv[3]);
		else if (what == "derive")
			derive(service, argv[3]);
		else if (what == "law")
			law(service, argv[3]);
		else if (what == "token")
			std::puts(service.info().at("name").get<std::string>().c_str());
		else if (what == "functions")
			std::printf("%zu\n", service.functions().size());
		else
			contacts(service, what == "none" ? std::vector<std::int32_t>{}
			                                 : std::vector<std::int32_t>{what == "wrong" ? 912 : 0});
	} catch (const std::exception &reason) {
		std::fprintf(stderr, "%s\n", reason.what());
		return 1;
	}
	return 0;
}
