/* Sets up the page: the parameters, and the sections that show their results. */
import {Control} from "./controls.js";
import {Ellipse} from "./ellipse.js";
import {Incline} from "./incline.js";
import {Law} from "./law.js";
import {Choice} from "./laws.js";
import {Points} from "./points.js";
import {listen, request, useToken} from "./service.js";

const byId = (id) => document.getElementById(id);
const sections = {};
const updateAll = () => Object.values(sections).forEach((section) => section.update());
const updateEllipse = () => sections.ellipse?.update();
const updateIncline = () => sections.incline?.update();

const controls = {
	eps_v: new Control("eps_v", 0.001, updateAll, "log"),
	mu_s: new Control("mu_s", 0.8, updateAll),
	mu_k: new Control("mu_k", 0.4, updateAll),
	stribeck_speed: new Control("stribeck_speed", 0.005, updateAll, "log"),
	viscous: new Control("viscous", 0, updateAll, "zeroOrLog"),
	direction: new Control("direction", 35, updateEllipse),
	mu_s_aniso_0: new Control("mu_s_aniso_0", 1, updateEllipse),
	mu_s_aniso_1: new Control("mu_s_aniso_1", 0.5, updateEllipse),
	mu_k_aniso_0: new Control("mu_k_aniso_0", 0.6, updateEllipse),
	mu_k_aniso_1: new Control("mu_k_aniso_1", 0.3, updateEllipse),
	angle: new Control("angle", 18, updateIncline),
	speed: new Control("speed", 0.2, updateIncline, "signed"),
	mass: new Control("mass", 1, updateIncline, "log"),
};
const value = (name) => controls[name].asked;
const transition = () => document.querySelector("[name=mu_transition]:checked").value;
const points = new Points(byId("curve"), updateAll);
const choice = new Choice(byId("friction-law"), byId("friction-law-words"), updateAll);
const law = () =>
	choice.law({
		...Object.fromEntries(
			["eps_v", "mu_s", "mu_k", "stribeck_speed", "viscous"].map((name) => [name, () => value(name)]),
		),
		mu_transition: transition,
		curve: () => points.asked,
	});
const coefficients = () => {
	const {mu_s, mu_k} = law();
	return {mu_s, mu_k};
};

function tellTrouble(text) {
	byId("trouble").hidden = text === "";
	byId("trouble").textContent = text;
}

function askForToken(wasWrong) {
	byId("token").hidden = false;
	byId("token-fault").textContent = wasWrong ? "The service does not accept this token." : "";
	byId("token-field").focus();
}

listen({askForToken, showTrouble: tellTrouble});
byId("token").addEventListener("submit", (event) => {
	event.preventDefault();
	const field = byId("token-field"),
		token = field.value;
	field.value = "";
	if (token.trim() === "") return;
	byId("token").hidden = true;
	useToken(token);
});

sections.law = new Law(byId("law"), law, () => byId("range").value);
sections.ellipse = new Ellipse(
	byId("ellipse"),
	() => ({
		mu_s_aniso: [value("mu_s_aniso_0"), value("mu_s_aniso_1")],
		mu_k_aniso: [value("mu_k_aniso_0"), value("mu_k_aniso_1")],
		...coefficients(),
	}),
	controls.direction,
);
sections.incline = new Incline(byId("incline"), law, {
	angle: controls.angle,
	speed: controls.speed,
	mass: controls.mass,
});

for (const radio of document.querySelectorAll("[name=mu_transition]")) radio.addEventListener("change", updateAll);
byId("range").addEventListener("change", () => {
	sections.law.cursor = null;
	sections.law.update();
});
byId("reset").addEventListener("click", () => {
	for (const control of Object.values(controls)) control.reset();
	document.querySelector("[name=mu_transition][value=cubic]").checked = true;
	choice.reset();
	points.reset();
	byId("range").selectedIndex = 0;
	sections.law.cursor = null;
	updateAll();
});

updateAll();
request("v1/info").then(
	({json}) => {
		byId("version").textContent = `version ${json.version}`;
	},
	() => {},
);
