/* Search, the buttons that copy code, the choice of a theme, and the menu on phones. Everything also works from file://. */
"use strict";

const root = document.body.dataset.root;

function make(tag, properties, ...children) {
	const element = Object.assign(document.createElement(tag), properties);
	element.append(...children);
	return element;
}

/* ---- theme ---- */

function isDark() {
	const chosen = document.documentElement.dataset.theme;
	return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

const themeButton = document.querySelector("#theme");

function nameTheme() {
	themeButton.textContent = isDark() ? "Light" : "Dark";
	themeButton.setAttribute("aria-label", isDark() ? "Use light colours" : "Use dark colours");
}

themeButton.addEventListener("click", () => {
	const theme = isDark() ? "light" : "dark";
	document.documentElement.dataset.theme = theme;
	try {
		localStorage.setItem("frictiond-theme", theme);
	} catch (error) {
		/* then the choice lasts as long as the page */
	}
	nameTheme();
});
themeButton.hidden = false;
nameTheme();

/* ---- menu ---- */

const menu = document.querySelector(".menu details");
if (matchMedia("(max-width: 60rem)").matches) menu.open = false;
const current = menu.querySelector("[aria-current]");
if (menu.open && current) {
	const column = document.querySelector(".menu");
	column.scrollTop = current.offsetTop - column.clientHeight / 2;
}

/* ---- copying ---- */

async function copy(text) {
	try {
		await navigator.clipboard.writeText(text);
	} catch (error) {
		const area = make("textarea", {value: text});
		document.body.append(area);
		area.select();
		document.execCommand("copy");
		area.remove();
	}
}

for (const pre of document.querySelectorAll("main pre")) {
	const button = make("button", {type: "button", className: "copy", textContent: "Copy"});
	button.setAttribute("aria-label", `Copy this ${pre.dataset.language}`);
	button.addEventListener("click", async () => {
		await copy(pre.textContent);
		button.textContent = "Copied";
		setTimeout(() => (button.textContent = "Copy"), 1500);
	});
	const box = make("div", {className: "code"});
	pre.replaceWith(box);
	box.append(pre, button);
}

/* ---- search ---- */

const input = document.querySelector("#search");
const results = document.querySelector("#results");
let sections = null; /* the index, with normalised texts */
var searchIndex; /* set by search-index.js */

/* μ_s, μs and mu_s are the same word; so are upper and lower case, and letters with and without marks. */
function normalised(text) {
	return text.toLowerCase().normalize("NFKD").replace(/[\u0300-\u036f_]/g, "").replace(/μ/g, "mu").replace(/ε/g, "eps");
}

function loadIndex() {
	if (loadIndex.done) return;
	loadIndex.done = true;
	const script = make("script", {src: `${root}search-index.js`});
	script.addEventListener("load", () => {
		sections = searchIndex.map(([place, page, anchor, heading, text]) => ({
			place, page, anchor, heading, text, title: normalised(`${page} ${heading}`), words: normalised(text),
		}));
		show();
	});
	document.head.append(script);
}

function countOf(text, word) {
	let count = 0;
	for (let at = text.indexOf(word); at >= 0 && count < 20; at = text.indexOf(word, at + word.length)) count++;
	return count;
}

/* A word in the title counts most; a section without one of the words is no hit. */
function scoreOf(section, words) {
	let score = 0;
	for (const word of words) {
		const inTitle = countOf(section.title, word), inText = countOf(section.words, word);
		if (!inTitle && !inText) return 0;
		const whole = new RegExp(`(^|[^\\p{L}\\p{N}])${word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}($|[^\\p{L}\\p{N}])`, "u");
		score += inTitle * 10 + (whole.test(section.title) ? 20 : 0) + Math.min(inText, 8) + (whole.test(section.words) ? 4 : 0);
	}
	return score / (section.place.startsWith("decisions/") || section.place.startsWith("project/") ? 2 : 1);
}

/* Where words are in a text, as ranges of the text before it was normalised. */
function rangesOf(text, words) {
	const from = []; /* for each character of the normalised text, its place in the text */
	let whole = "";
	let at = 0;
	for (const character of text) {
		const part = normalised(character);
		for (let i = 0; i < part.length; i++) from.push(at);
		whole += part;
		at += character.length;
	}
	from.push(text.length);
	const ranges = [];
	for (const word of words)
		for (let i = whole.indexOf(word); i >= 0 && ranges.length < 40; i = whole.indexOf(word, i + word.length))
			ranges.push([from[i], from[i + word.length]]);
	return ranges.sort((a, b) => a[0] - b[0]);
}

function excerpt(text, words) {
	const first = rangesOf(text, words)[0];
	let begin = Math.max(0, (first ? first[0] : 0) - 70);
	if (begin) begin = text.indexOf(" ", begin) + 1;
	return (begin ? "… " : "") + text.slice(begin, begin + 180) + (text.length > begin + 180 ? " …" : "");
}

function marked(text, words) {
	const parts = [];
	let at = 0;
	for (const [begin, end] of rangesOf(text, words)) {
		if (begin < at) continue;
		parts.push(text.slice(at, begin), make("mark", {textContent: text.slice(begin, end)}));
		at = end;
	}
	return [...parts, text.slice(at)];
}

function show() {
	const words = normalised(input.value).split(/\s+/).filter((word) => word);
	results.hidden = !words.length;
	if (!words.length || !sections) return;
	const hits = sections.map((section) => [scoreOf(section, words), section]).filter(([score]) => score > 0);
	hits.sort((a, b) => b[0] - a[0]);
	document.querySelector("#found").textContent = hits.length
		? `${hits.length} ${hits.length === 1 ? "section" : "sections"}` + (hits.length > 20 ? ", the best 20:" : ":")
		: `Nothing has “${input.value.trim()}”.`;
	results.querySelector("ol").replaceChildren(...hits.slice(0, 20).map(([, section]) => {
		const name = section.heading ? `${section.page} › ${section.heading}` : section.page;
		const link = make("a", {href: `${root}${section.place}#${section.anchor}`}, ...marked(name, words));
		return make("li", {}, link, make("p", {}, ...marked(excerpt(section.text, words), words)));
	}));
}

input.addEventListener("focus", loadIndex);
input.addEventListener("input", show);
document.addEventListener("keydown", (event) => {
	if (event.key === "Escape") {
		results.hidden = true;
	} else if (event.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) {
		event.preventDefault();
		input.focus();
	}
});
document.addEventListener("click", (event) => {
	if (!event.target.closest(".search")) results.hidden = true;
	else if (event.target.closest("#results a")) results.hidden = true;
});
