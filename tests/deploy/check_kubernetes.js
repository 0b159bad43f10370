/* Checks Kubernetes objects against the schemas of the API:  node check_kubernetes.js FILE...
 * Each FILE is a JSON array of objects. Prints a line per fault, or "FILE: ok"; the exit code is 1 if there is a fault.
 *
 * It checks twice, as neither check finds everything: the TypeScript types reject unknown fields; the validators reject
 * malformed quantities, numbers and enumerations. Both were generated from Kubernetes' OpenAPI.
 */
"use strict";
const fs = require("fs");
const path = require("path");
const Module = require("module");

const tools = path.resolve(__dirname, "../../build/deploy");
const load = Module.createRequire(path.join(tools, "package.json"));
const ts = load("typescript");

function model(object) {
	if (!/^[a-z0-9./]+$/.test(object.apiVersion) || !/^[A-Za-z]+$/.test(object.kind))
		return undefined;
	try {
		return load(`kubernetes-models/${object.apiVersion}`)[object.kind];
	} catch (error) {
		return undefined;
	}
}

function named(object) {
	return `${object.kind} ${object.metadata && object.metadata.name}`;
}

function validate(object) {
	try {
		new (model(object))(object).validate();
		return [];
	} catch (error) {
		return [`${named(object)}: ${error.message}`];
	}
}

/* TypeScript source whose constants must match the types; the line of an error identifies the field. */
function source(objects) {
	return objects.map((object, i) =>
		`import { I${object.kind} as T${i} } from "kubernetes-models/${object.apiVersion}";\n` +
		`export const o${i}: T${i} = ${JSON.stringify(object, null, 1)};\n`).join("");
}

function typeFaults(sources) {
	const options = {
		strict: true, noEmit: true, skipLibCheck: true, types: [],
		module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16, target: ts.ScriptTarget.ES2020,
	};
	const host = ts.createCompilerHost(options);
	const original = {...host};
	host.fileExists = (name) => sources.has(name) || original.fileExists(name);
	host.readFile = (name) => sources.get(name) || original.readFile(name);
	host.getSourceFile = (name, target, ...rest) => sources.has(name)
		? ts.createSourceFile(name, sources.get(name), target)
		: original.getSourceFile(name, target, ...rest);
	return ts.getPreEmitDiagnostics(ts.createProgram([...sources.keys()], options, host));
}

function describe(fault) {
	const text = ts.flattenDiagnosticMessageText(fault.messageText, "; ");
	if (!fault.file)
		return text;
	const line = fault.file.getLineAndCharacterOfPosition(fault.start).line;
	return `${fault.file.text.split("\n")[line].trim()}: ${text}`;
}

function main(files) {
	const faults = new Map(files.map((file) => [file, []]));
	const sources = new Map();
	files.forEach((file, i) => {
		const objects = JSON.parse(fs.readFileSync(file));
		const strange = objects.filter((object) => !model(object));
		faults.get(file).push(...strange.map((object) => `${object.apiVersion} has no kind ${object.kind}`));
		const known = objects.filter((object) => model(object));
		faults.get(file).push(...known.flatMap(validate));
		sources.set(path.join(tools, `check${i}.ts`), source(known));
	});
	const names = [...sources.keys()];
	for (const fault of typeFaults(sources)) {
		const i = fault.file ? names.indexOf(fault.file.fileName) : 0;
		faults.get(files[Math.max(i, 0)]).push(describe(fault));
	}
	for (const [file, found] of faults)
		console.log(found.length ? found.map((text) => `${file}: ${text}`).join("\n") : `${file}: ok`);
	return [...faults.values()].some((found) => found.length) ? 1 : 0;
}

process.exit(main(process.argv.slice(2)));
