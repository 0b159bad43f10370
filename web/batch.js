/* A batch: its text, its contacts in a picture, a table and histograms, and its faults. */
import {axesOf, contactOf, contactsOf, FEWER, fill, norm, STATES, VALUES} from "./batch_contacts.js";
import {EXAMPLES, exampleText} from "./batch_examples.js";
import {Histogram, Table} from "./batch_lists.js";
import {Picture} from "./batch_scene.js";
import {asking, isFrame, lineOf, locate, placeOfLine, print, readFrame} from "./batch_text.js";
import {fillList, format, withSubscripts} from "./svg.js";

export const title = "Batch";

const FIRST = "blocks";
const LONGEST = 400000; /* characters that the field shows at once */
const WINDOW = 200; /* lines of a longer text */
const MANY = 20000; /* contacts from which on fewer values are requested */
const ALL = {
	stencils: ["Stencils", true],
	force: ["Friction F", true],
	split: ["F along and across slip", false],
	slip: ["Slip u", true],
	normals: ["Normal force N", true],
	bases: ["Bases", false],
	cones: ["Cones", false],
	ellipses: ["Ellipses", false],
};
const NO_LAW = "The text holds no contacts yet.";

const PAGE = `
<section aria-labelledby="batch-title" id="batch">
	<p class="stale" hidden></p>
	<h2 id="batch-title">Your contacts</h2>
	<p>Paste the request that you send to <a href="docs/api.html">/v1/evaluate</a>, drop a file, or pick an example. The picture
		shows what the service answers.</p>
	<p class="fault" role="alert" hidden></p>
	<div class="faults" role="alert" hidden><p>The service refuses this batch:</p><ol id="batch-faults"></ol></div>
	<div class="work">
		<figure class="plot">
			<canvas id="batch-scene" tabindex="0" role="application" aria-label="Contacts in space" aria-describedby="batch-summary batch-keys"></canvas>
			<p id="batch-summary" role="status"></p>
			<div class="buttons" id="batch-shown"></div>
			<div class="levers">
				<div class="control"><label for="batch-force">Length of forces</label><input type="range" id="batch-force" min="-1" max="1" step="0.01" value="0"><output for="batch-force"></output></div>
				<div class="control"><label for="batch-velocity">Length of velocities</label><input type="range" id="batch-velocity" min="-1" max="1" step="0.01" value="0"><output for="batch-velocity"></output></div>
			</div>
			<ul class="legend marks">
				<li class="force"><svg viewBox="0 0 34 12" aria-hidden="true"><path d="M1 6h22"/><path class="fill" d="M33 6 22 1v10z"/></svg>F: friction, solid head</li>
				<li class="slip"><svg viewBox="0 0 34 12" aria-hidden="true"><path d="M1 6h31M22 1l11 5-11 5"/></svg>u: slip velocity, open head</li>
				<li class="normal"><svg viewBox="0 0 34 12" aria-hidden="true"><path d="M1 6h14"/><path class="fill" d="M33 6 22 1v10zM23 6 12 1v10z"/></svg>N: normal force, double head</li>
				<li class="static"><svg viewBox="0 0 34 12" aria-hidden="true"><path stroke-dasharray="6 3" d="M1 6h32"/></svg>S: static limit; with F, its part across slip</li>
				<li class="kinetic"><svg viewBox="0 0 34 12" aria-hidden="true"><path d="M1 6h32"/></svg>K: kinetic limit</li>
				<li class="normal"><svg viewBox="0 0 34 12" aria-hidden="true"><circle cx="17" cy="6" r="4"/></svg>sticks</li>
				<li class="slides"><svg viewBox="0 0 34 12" aria-hidden="true"><circle class="fill" cx="17" cy="6" r="4.5"/></svg>slides</li>
			</ul>
			<details><summary>Keys and pointer</summary><p id="batch-keys">Drag to turn, with Shift to move; a click selects a contact. On the picture, arrow keys turn, + and − zoom, F fits, N and P select the next and the previous contact. Ctrl and the wheel zoom.</p></details>
		</figure>
		<div class="side">
			<div class="buttons">
				<label for="batch-example">Example <select id="batch-example"></select></label>
				<label class="button">Open a file <input type="file" id="batch-file" accept=".json,.frame,application/json"></label>
			</div>
			<label for="batch-text">The batch, as JSON</label>
			<textarea id="batch-text" rows="16" spellcheck="false" autocomplete="off" wrap="off"></textarea>
			<p id="batch-window" hidden></p>
			<h3>Selected contact</h3>
			<dl class="numbers" id="batch-contact"></dl>
		</div>
	</div>
	<div class="plots two"><figure class="plot" id="batch-slip"></figure><figure class="plot" id="batch-share"></figure></div>
	<p id="batch-chosen" role="status"></p>
	<div class="scroll" id="batch-table"></div>
</section>`;

/* Components that are rounding errors of `whole` are written as 0. */
const tidy = (v, whole = v) =>
	v ? `(${v.map((x) => format(Math.abs(x) < 1e-14 * norm(whole) ? 0 : x)).join(", ")})` : "–";

export function mount(root, context) {
	const {service} = context;
	root.innerHTML = PAGE;
	const byId = (id) => root.querySelector(`#batch-${id}`);
	const field = byId("text"),
		examples = byId("example");
	let text = "" /* the whole text; the field shows a part if it is long */,
		example = FIRST,
		first = 0 /* number of lines before the part that is shown */,
		document_ = null,
		scene = contactsOf(null),
		answer = null,
		sent = "",
		faults = [],
		selected = -1,
		chosen = new Set();

	/* ---- selection, shared by all ---- */

	const step = (by) => scene.list.length && select(Math.max(0, Math.min(scene.list.length - 1, selected + by)));
	const picture = new Picture(byId("scene"), {pick: (i) => pick(i), step: (by) => step(by) && context.changed()});
	const table = new Table(byId("table"), {pick});
	const on = {choose};
	const histograms = [
		new Histogram(
			byId("slip"),
			{
				name: "slip_ratio",
				title: "Slip ratio y/ε, logarithmic",
				words: "y/ε",
				of: (c) => c.ratio,
				edges: [0, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, Infinity],
			},
			on,
		),
		new Histogram(
			byId("share"),
			{
				name: "share",
				title: "Force over μλ",
				words: "F/(μλ)",
				of: (c) => c.share,
				edges: [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, Infinity],
			},
			on,
		),
	];

	function pick(i) {
		select(i);
		context.changed();
	}

	function select(i) {
		selected = scene.list[i] ? i : -1;
		spread();
		return true;
	}

	/* Chooses the contacts of a bar; again, none. */
	function choose(indices, words) {
		const isSame = indices.length === chosen.size && indices.every((i) => chosen.has(i));
		chosen = new Set(isSame ? [] : indices);
		byId("chosen").textContent = chosen.size ? `${chosen.size} contacts chosen: ${words}.` : "";
		if (chosen.size && !chosen.has(selected)) [selected] = indices;
		spread();
		context.changed();
	}

	function spread() {
		Object.assign(picture, {selected, chosen});
		picture.collect();
		picture.draw();
		table.select(selected, chosen);
		for (const histogram of histograms) histogram.select(selected, chosen);
		tellContact();
	}

	const vectors = (c) => ({
		group: c.group,
		index: c.index,
		members: c.members,
		point: c.at,
		force: c.force,
		normal: c.normal,
		velocity: c.velocity,
		along: c.along,
		across: c.across,
		normal_force: c.lambda,
		mu_s: c.mu?.[0],
		mu_k: c.mu?.[1],
		status: c.status,
		slip_ratio: c.ratio,
		share: c.share,
	});

	function tellContact() {
		const c = scene.list[selected],
			list = byId("contact");
		if (!c) {
			delete list.dataset.contact;
			fillList(list, [["none: click one, or use the table", ""]]);
			return;
		}
		list.dataset.contact = JSON.stringify({row: selected, ...vectors(c)});
		const rows = [
			["contact", `${c.group} ${c.index}`, "contact"],
			[c.group.startsWith("body") ? "bodies" : "vertices", c.members.join(", "), "members"],
		];
		if (c.force) {
			rows.push(["state", STATES[c.status], "status"], ["friction F", tidy(c.force), "force"]);
			if (c.along)
				rows.push(
					["F along slip", tidy(c.along, c.force), "along"],
					["F across slip", tidy(c.across, c.force), "across"],
					["slip velocity u", tidy(c.velocity), "velocity"],
				);
			if (c.normal) rows.push(["unit normal", tidy(c.normal), "normal"]);
			rows.push(
				["normal force λ", format(c.lambda), "normal_force"],
				["μₛ, μₖ", c.mu.map((v) => format(v)).join(", "), "mu"],
				["slip ratio y/ε", format(c.ratio), "slip_ratio"],
				["F/(μλ)", format(c.share), "share"],
			);
			if (c.basis && c.dim === 3)
				rows.push([
					"largest F, static",
					axesOf(c)[0]
						.map((v) => format(v))
						.join(" × "),
					"static",
				]);
		}
		fillList(list, rows);
		withSubscripts(list);
	}

	/* ---- the text ---- */

	const isLong = () => text.length > LONGEST;

	function setText(value, name) {
		text = value;
		example = name;
		examples.value = name ?? "";
		first = 0;
		showText();
		update(true);
	}

	function showText() {
		const note = byId("window");
		note.hidden = field.readOnly = false;
		if (isLong()) {
			const from = placeOfLine(text, first + 1),
				to = placeOfLine(text, first + WINDOW + 1);
			field.value = text.slice(from, to);
			field.readOnly = true;
			note.textContent = `The text has ${Math.round(text.length / 1e5) / 10} million characters. Lines ${first + 1} to ${first + WINDOW} are shown.`;
		} else {
			note.hidden = true;
			if (field.value !== text) field.value = text;
		}
	}

	/* Selects a part of the text, and scrolls to it. */
	function showPart({from, to}, isAsked) {
		const line = lineOf(text, from);
		let offset = 0;
		if (isLong()) {
			first = Math.max(0, line - 5);
			showText();
			offset = placeOfLine(text, first + 1);
		}
		field.setSelectionRange(from - offset, Math.max(to, from + 1) - offset);
		const height = parseFloat(getComputedStyle(field).lineHeight) || 20,
			start = text.lastIndexOf("\n", from - 1) + 1;
		field.scrollTop = Math.max(0, (line - first - 4) * height);
		field.scrollLeft = Math.max(0, (from - start - 20) * 8);
		if (isAsked || document.activeElement === document.body) field.focus({preventScroll: !isAsked});
	}

	/* ---- faults ---- */

	function clearFaults() {
		faults = [];
		byId("faults").replaceChildren();
		root.querySelector(".faults").hidden = true;
		field.setAttribute("aria-invalid", "false");
	}

	function showFaults(problem) {
		const place = /line (\d+), column (\d+)/.exec(problem.message);
		const found = problem.errors?.length ? problem.errors : [{pointer: "", detail: problem.message}];
		faults = found.map(({pointer, detail}) => {
			const at = place ? placeOfLine(text, Number(place[1]), Number(place[2])) : -1;
			const part = at >= 0 ? {from: at, to: at + 1} : locate(text, pointer);
			return {pointer, detail, part, line: lineOf(text, part.from), row: contactOf(scene, document_, pointer)};
		});
		byId("faults").replaceChildren(
			...faults.map((fault, k) => {
				const item = document.createElement("li"),
					button = document.createElement("button"),
					c = scene.list[fault.row];
				button.type = "button";
				button.textContent = [fault.pointer, `line ${fault.line}`, c ? `contact ${c.group} ${c.index}` : ""]
					.filter(Boolean)
					.join(" · ");
				Object.assign(item.dataset, {pointer: fault.pointer, line: fault.line, row: fault.row});
				button.addEventListener("click", () => focus(k, true));
				item.append(button, ` ${fault.detail} `);
				if (problem.code)
					item.append(
						Object.assign(document.createElement("a"), {
							href: `errors/${problem.code}`,
							textContent: `What ${problem.code} means`,
						}),
					);
				return item;
			}),
		);
		root.querySelector(".faults").hidden = false;
		field.setAttribute("aria-invalid", "true");
		table.show(scene.list, new Set(faults.map(({row}) => row)));
		focus(0, false);
	}

	function focus(k, isAsked) {
		const fault = faults[k];
		byId("faults")
			.querySelectorAll("li")
			.forEach((item, i) => item.toggleAttribute("aria-current", i === k));
		select(fault.row);
		showPart(fault.part, isAsked);
	}

	/* ---- the service ---- */

	function read() {
		try {
			document_ = JSON.parse(text);
			scene = contactsOf(document_);
			return true;
		} catch {
			document_ = null;
			return false;
		}
	}

	/* Faults that the service finds are listed, each with its place. */
	const ofList = {name: "the faults", blame() {}};
	const freshness = new service.Freshness(root.querySelector("section"), (error) => (error.status ? ofList : undefined));
	const latest = new service.Latest(async (signal) => {
		const isRead = read();
		if (isRead) {
			chosen = new Set();
			if (selected >= scene.list.length) selected = -1;
		}
		sent = asking(text, scene.list.length > MANY ? FEWER : VALUES);
		answer = null;
		try {
			const {json} = await service.request("v1/evaluate", sent, signal);
			answer = json;
			fill(scene, answer);
			clearFaults();
			showScene();
		} catch (error) {
			if (error.status && !signal.aborted) {
				if (isRead) showScene();
				showFaults(error);
			}
			throw error;
		}
	}, freshness);

	function showScene() {
		root.firstElementChild.classList.toggle("unanswered", !answer);
		picture.show(scene);
		table.show(scene.list, new Set());
		for (const histogram of histograms) histogram.show(scene.list);
		spread();
		const count = (status) => scene.list.filter((c) => c.status === status).length,
			{list} = scene;
		byId("summary").textContent = !list.length
			? NO_LAW
			: `${list.length} contacts in ${scene.dim}D${answer ? `: ${count(1)} slide, ${count(0)} stick${count(2) ? `, ${count(2)} are skipped` : ""}. Largest friction force ${format(list.reduce((most, c) => Math.max(most, norm(c.force)), 0))}.` : ", not evaluated."}${scene.isPlaced ? "" : " The batch has no positions: contacts are placed on a grid."}`;
	}

	function update(isWhole = false) {
		if (!isWhole && !isLong()) text = field.value;
		latest.update();
	}

	/* ---- controls ---- */

	examples.append(
		new Option("yours", ""),
		...Object.entries(EXAMPLES).map(([name, [label]]) => new Option(label, name)),
	);
	examples.addEventListener("change", () => {
		if (!examples.value) return;
		selected = -1;
		setText(exampleText(examples.value), examples.value);
		context.changed();
	});
	field.addEventListener("input", () => {
		example = null;
		examples.value = "";
		update();
		if (isLong()) showText();
		context.changed();
	});

	async function open(file) {
		const buffer = await file.arrayBuffer(),
			bytes = new Uint8Array(buffer);
		try {
			setText(isFrame(bytes) ? print(readFrame(buffer)) : new TextDecoder().decode(buffer), null);
		} catch {
			setText(`${file.name} is neither JSON nor a frame`, null);
		}
		context.changed();
	}
	byId("file").addEventListener("change", ({target}) => {
		const [file] = target.files;
		target.value = "";
		if (file) open(file);
	});
	root.addEventListener("dragover", (event) => event.preventDefault());
	root.addEventListener("drop", (event) => {
		event.preventDefault();
		const [file] = event.dataTransfer.files;
		if (file) open(file);
		else if (event.dataTransfer.getData("text")) setText(event.dataTransfer.getData("text"), null);
	});

	for (const [name, [label]] of Object.entries(ALL)) {
		const box = Object.assign(document.createElement("input"), {type: "checkbox", id: `batch-show-${name}`}),
			words = document.createElement("label");
		words.append(box, ` ${label}`);
		byId("shown").append(words);
		box.addEventListener("change", () => {
			arrange();
			context.changed();
		});
	}
	const fit = Object.assign(document.createElement("button"), {type: "button", textContent: "Fit", id: "batch-fit"});
	fit.addEventListener("click", () => picture.fit());
	byId("shown").append(fit);

	function arrange() {
		for (const name of Object.keys(ALL)) picture.shown[name] = byId(`show-${name}`).checked;
		for (const name of ["force", "velocity"]) {
			const slider = byId(name);
			picture.scales[name] = 10 ** Number(slider.value);
			slider.nextElementSibling.textContent = `× ${format(picture.scales[name], 3)}`;
		}
		picture.collect();
		picture.draw();
	}
	for (const name of ["force", "velocity"])
		byId(name).addEventListener("input", () => {
			arrange();
			context.changed();
		});

	/* ---- the view ---- */

	const shownOf = () =>
		Object.entries(ALL)
			.filter(([name, [, isOn]]) => byId(`show-${name}`).checked !== isOn)
			.map(([name]) => name);

	function state() {
		const switched = shownOf();
		return {
			...(example === FIRST ? {} : example ? {example} : {text}),
			...(selected < 0 ? {} : {selected}),
			...(switched.length ? {switched} : {}),
			...Object.fromEntries(
				["force", "velocity"]
					.filter((name) => Number(byId(name).value) !== 0)
					.map((name) => [name, Number(byId(name).value)]),
			),
		};
	}

	function restore(given) {
		selected = Number.isInteger(given.selected) ? given.selected : -1;
		const switched = Array.isArray(given.switched) ? given.switched : [];
		for (const [name, [, isOn]] of Object.entries(ALL))
			byId(`show-${name}`).checked = isOn !== switched.includes(name);
		for (const name of ["force", "velocity"]) byId(name).value = Number.isFinite(given[name]) ? given[name] : 0;
		arrange();
		const name =
			typeof given.text === "string" ? null : Object.hasOwn(EXAMPLES, given.example) ? given.example : FIRST;
		const wanted = name ? exampleText(name) : given.text;
		if (wanted !== text || !answer) setText(wanted, name);
		else spread();
	}

	restore({});
	return {
		state,
		restore,
		requests: () => (sent && sent.length < 1e6 ? [{path: "v1/evaluate", body: sent}] : []),
		pictures: () => [byId("scene")],
		table: () => ({
			columns: [
				"group",
				"index",
				"status",
				"slip_ratio",
				"share",
				"normal_force",
				"mu_s",
				"mu_k",
				...["point", "force", "normal", "velocity", "along", "across"].flatMap((name) =>
					["x", "y", "z"].slice(0, scene.dim).map((axis) => `${name}_${axis}`),
				),
			],
			rows: scene.list.map((c) => [
				c.group,
				c.index,
				c.status ?? "",
				c.ratio ?? "",
				c.share ?? "",
				c.lambda ?? "",
				c.mu?.[0] ?? "",
				c.mu?.[1] ?? "",
				...[c.at, c.force, c.normal, c.velocity, c.along, c.across].flatMap((v) =>
					Array.from({length: scene.dim}, (_, d) => v?.[d] ?? ""),
				),
			]),
		}),
		data: () => ({
			view: "batch",
			state: state(),
			potential: answer?.potential ?? null,
			contacts: scene.list.map(vectors),
		}),
	};
}
