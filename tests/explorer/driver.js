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
		/* The tab of the last page serves the same origin and options again: a new tab would cost twice the CPU time, for
		 * a process of its own, in which nothing is compiled yet. */
		const key = JSON.stringify([new URL(url).origin, options]);
		if (state.key === key && url.startsWith("http")) {
			await state.page.unrouteAll({behavior: "ignoreErrors"});
			await state.page.goto("about:blank");
			await state.page.setViewportSize(options.viewport ?? {width: 1280, height: 720});
		} else {
			await state.context?.close();
			state.context = await state.browser.newContext(options);
			await state.newTab();
		}
		state.key = key;
		Object.assign(state, {messages: [], asked: []});
		state.underWay.clear();
		await state.page.goto(url);
	},

	async newTab() {
		state.page = await state.context.newPage();
		state.page.setDefaultTimeout(Number(process.env.PW_TIMEOUT || 300000)); /* exceeded only if something is broken */
		state.page.on("console", (message) => state.messages.push({type: message.type(), text: message.text()}));
		state.page.on("pageerror", (error) => state.messages.push({type: "error", text: String(error)}));
		state.page.on("request", (request) => {
			state.asked.push(request.url());
			state.underWay.add(request);
		});
		for (const end of ["requestfinished", "requestfailed"])
			state.page.on(end, (request) => state.underWay.delete(request));
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
