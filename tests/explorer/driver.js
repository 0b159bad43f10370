/* Controls Chromium through lines of JSON: {"code": "...", "arguments": ...} on standard input runs the code with (state,
 * given) and returns {"value": ...} or {"error": "..."}. state.open(options) loads a page in place of the last one. */
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const readline = require("node:readline");

const tools = path.resolve(__dirname, "../../build/explorer/node_modules");
const {chromium} = require(path.join(tools, "playwright-core"));
const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor;

const state = {
	fs,
	read: (text) => new Function(`return ${text}`)() /* a function to run in the page */,
	axe: path.join(tools, "axe-core/axe.min.js"),

	/* state.messages collects the page's messages, state.asked its requests, and state.busy counts the requests under
	 * way. */
	underWay: new Set(),
	get busy() {
		return state.underWay.size;
	},

	async open({url, ...options}) {
		/* A tab serves the same origin and options again: a new one would take a process of its own, in which nothing
		 * is compiled yet. */
		await state.leave();
		const key = JSON.stringify([new URL(url).origin, options]);
		const tab = state.tabs.get(key) ?? (await state.newTab(options));
		state.tabs.delete(key);
		if (url.startsWith("http")) state.tabs.set(key, tab); /* as the newest */
		Object.assign(state, tab);
		await state.page.setViewportSize(options.viewport ?? {width: 1280, height: 720});
		Object.assign(state, {messages: [], asked: []});
		state.underWay.clear();
		await state.page.goto(url);
	},

	/* Empties the last page, so that nothing moves there. Few contexts are kept, and none of files, which share storage. */
	tabs: new Map(),
	async leave() {
		const kept = [...state.tabs.values()];
		if (state.context && !kept.some(({context}) => context === state.context)) {
			await state.context.close();
		} else if (state.page) {
			await state.page.unrouteAll({behavior: "ignoreErrors"});
			await state.page.goto("about:blank");
		}
		for (const [key, {context}] of [...state.tabs].slice(0, -5)) {
			state.tabs.delete(key);
			await context.close();
		}
	},

	async newTab(options) {
		const context = await state.browser.newContext(options);
		const page = await context.newPage();
		page.setDefaultTimeout(Number(process.env.PW_TIMEOUT || 300000)); /* exceeded only if something is broken */
		page.on("console", (message) => state.messages.push({type: message.type(), text: message.text()}));
		page.on("pageerror", (error) => state.messages.push({type: "error", text: String(error)}));
		page.on("request", (request) => {
			state.asked.push(request.url());
			state.underWay.add(request);
		});
		for (const end of ["requestfinished", "requestfailed"])
			page.on(end, (request) => state.underWay.delete(request));
		return {context, page};
	},
};

async function main() {
	state.browser = await chromium.launch({
		executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
		args: ["--no-proxy-server", "--disable-gpu"],
		timeout: 300000,
	});
	for await (const line of readline.createInterface({input: process.stdin})) {
		const {code, arguments: given} = JSON.parse(line);
		let answer;
		try {
			answer = {value: (await new AsyncFunction("state", "given", code)(state, given)) ?? null};
		} catch (error) {
			answer = {error: String(error.stack || error)};
		}
		process.stdout.write(`${JSON.stringify(answer)}\n`);
	}
	await state.browser.close();
}

main();
