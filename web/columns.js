/* Reads speeds and coefficients from pasted text: columns separated by tabs, semicolons, commas or spaces, with decimal
 * points or commas, with or without headers. */

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const SPEED = /speed|velocity|slip|geschw|vitesse|^\W*[vyu]\b/i,
	COEFFICIENT = /mu\b|mu[_\s(]|coef|cof|friction|reib|frottement|[µμ]/i;
const UNITS = [
	[/\bmm\s*\/\s*s\b/i, 1e-3],
	[/\bcm\s*\/\s*s\b/i, 1e-2],
	[/(µm|μm|\bum)\s*\/\s*s\b/i, 1e-6],
	[/\bkm\s*\/\s*h\b/i, 1 / 3.6],
];

/* How columns are separated, with how many lines would have two columns or more of numbers. */
const SEPARATORS = [/\t+/, /;/, /\s*\|\s*/, /,\s+/, /\s+/, /,/];

function numberOf(text, hasDecimalCommas) {
	let plain = text
		.trim()
		.replace(/^["']|["']$/g, "")
		.replace(/−/g, "-");
	if (plain.includes(".") && plain.includes(",")) plain = plain.replaceAll(",", "");
	else if (hasDecimalCommas) plain = plain.replace(",", ".");
	return NUMBER.test(plain) ? Number(plain) : NaN;
}

function split(line, separator) {
	/* a comma separates columns and decimals: "0,1,0,5" */
	const parts = line.trim().split(separator);
	if (separator.source === "," && parts.length === 4 && parts.every((part) => /^\s*[+-]?\d+\s*$/.test(part)))
		return [parts.slice(0, 2).join("."), parts.slice(2).join(".")];
	return parts;
}

function read(lines, separator) {
	const hasDecimalCommas = separator.source !== ",";
	const rows = lines.map((line) => split(line, separator).map((part) => part.trim()));
	const numbers = rows.map((row) => row.map((part) => numberOf(part, hasDecimalCommas)));
	return {rows, numbers, good: numbers.filter((row) => row.filter(Number.isFinite).length >= 2).length};
}

/* Returns {speeds, coefficients, skipped: numbers of lines that hold no data, words: what the columns are}. Speeds are in
 * m/s and not negative. */
export function parseColumns(text) {
	const lines = text.split(/\r?\n/);
	const best = SEPARATORS.map((separator) => read(lines, separator)).reduce((a, b) => (b.good > a.good ? b : a));
	const first = best.numbers.findIndex((row) => row.filter(Number.isFinite).length >= 2);
	if (first < 0) return {speeds: [], coefficients: [], skipped: [], words: ""};
	const header = best.rows.slice(0, first).findLast((row) => row.some((part) => part !== "")) ?? [];
	const columns = best.numbers[first].map((value, i) => i).filter((i) => Number.isFinite(best.numbers[first][i]));
	let speed = columns.find((i) => SPEED.test(header[i] ?? "") && !COEFFICIENT.test(header[i] ?? ""));
	let coefficient = columns.find((i) => COEFFICIENT.test(header[i] ?? "") && i !== speed);
	speed ??= columns.find((i) => i !== coefficient);
	coefficient ??= columns.find((i) => i !== speed && i > speed) ?? columns.find((i) => i !== speed);
	const [, unit = 1] = UNITS.find(([pattern]) => pattern.test(header[speed] ?? "")) ?? [];
	const speeds = [],
		coefficients = [],
		skipped = [];
	best.numbers.forEach((row, i) => {
		if (Number.isFinite(row[speed]) && Number.isFinite(row[coefficient])) {
			speeds.push(Math.abs(row[speed]) * unit);
			coefficients.push(Math.abs(row[coefficient]));
		} else if (i > first && lines[i].trim() !== "") skipped.push(i + 1);
	});
	const named = (i) => (header[i] ? `“${header[i]}”` : `column ${i + 1}`);
	return {
		speeds,
		coefficients,
		skipped,
		words: `speed from ${named(speed)}${unit === 1 ? "" : ", converted to m/s"}, coefficient from ${named(coefficient)}`,
	};
}
