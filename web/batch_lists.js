/* The table of contacts, of which only the visible rows exist, and histograms whose bars choose contacts. */
import {norm, STATES} from "./batch_contacts.js";
import {format} from "./svg.js";

const ROW = 30; /* height in pixels, as in the style sheet */

export const COLUMNS = [
	["", (c) => String(c.index)],
	["group", (c) => c.group],
	["state", (c) => STATES[c.status] ?? "–"],
	["y/ε", (c) => number(c.ratio)],
	["F/(μλ)", (c) => number(c.share)],
	["F", (c) => number(c.force && norm(c.force))],
	["λ", (c) => number(c.lambda)],
	["μₛ", (c) => number(c.mu?.[0])],
	["μₖ", (c) => number(c.mu?.[1])],
];

const number = (value) => (Number.isFinite(value) ? format(value) : "–");

export class Table {
	/* on: {pick(index)} */
	constructor(root, on) {
		Object.assign(this, {root, on, list: [], selected: -1, chosen: new Set(), faulty: new Set()});
		root.innerHTML = `<table role="grid" aria-label="Contacts"><thead><tr>${COLUMNS.map(([name]) => `<th scope="col">${name || "contact"}</th>`).join("")}</tr></thead><tbody></tbody></table>`;
		this.grid = root.firstChild;
		this.body = root.querySelector("tbody");
		this.grid.tabIndex = 0;
		root.addEventListener("scroll", () => this.draw());
		new ResizeObserver(() => this.draw()).observe(root);
		this.body.addEventListener("click", ({target}) => {
			const row = target.closest("tr[data-row]");
			if (row) on.pick(Number(row.dataset.row));
		});
		this.grid.addEventListener("keydown", (event) => {
			const page = Math.max(1, Math.floor(root.clientHeight / ROW) - 2),
				last = this.list.length - 1;
			const to = {
				ArrowDown: this.selected + 1,
				ArrowUp: Math.max(this.selected - 1, 0),
				PageDown: this.selected + page,
				PageUp: Math.max(this.selected - page, 0),
				Home: 0,
				End: last,
			}[event.key];
			if (to === undefined || last < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
			event.preventDefault();
			on.pick(Math.min(to, last));
		});
	}

	show(list, faulty) {
		Object.assign(this, {list, faulty});
		this.grid.setAttribute("aria-rowcount", String(list.length + 1));
		this.draw();
	}

	select(index, chosen) {
		Object.assign(this, {selected: index, chosen});
		const {root} = this,
			top = index * ROW,
			room = root.clientHeight - 2 * ROW;
		if (index >= 0 && (top < root.scrollTop || top > root.scrollTop + room))
			root.scrollTop = Math.max(0, top - room / 2);
		this.draw();
	}

	draw() {
		const {root, list} = this,
			from = Math.max(0, Math.floor(root.scrollTop / ROW) - 4),
			to = Math.min(list.length, from + Math.ceil((root.clientHeight || 300) / ROW) + 8);
		const rows = [];
		const space = (n) => {
			const row = document.createElement("tr");
			row.setAttribute("aria-hidden", "true");
			row.style.height = `${n * ROW}px`;
			if (n > 0) rows.push(row);
		};
		space(from);
		for (let i = from; i < to; i++) {
			const row = document.createElement("tr");
			row.dataset.row = i;
			row.id = `batch-row-${i}`;
			row.setAttribute("aria-rowindex", String(i + 2));
			row.setAttribute("aria-selected", String(i === this.selected));
			row.className = [this.chosen.has(i) ? "chosen" : "", this.faulty.has(i) ? "faulty" : ""].join(" ").trim();
			for (const [, text] of COLUMNS) row.insertCell().textContent = text(list[i]);
			rows.push(row);
		}
		space(list.length - to);
		this.body.replaceChildren(...rows);
		if (this.selected >= from && this.selected < to)
			this.grid.setAttribute("aria-activedescendant", `batch-row-${this.selected}`);
		else this.grid.removeAttribute("aria-activedescendant");
	}
}

const BARS = 10;

export class Histogram {
	/* of(contact): the value; edges: [BARS + 1] limits of the bars; on: {choose(indices, words)} */
	constructor(root, {name, title, of, edges, words}, on) {
		Object.assign(this, {root, of, edges, words});
		root.innerHTML = `<h3>${title}</h3><div class="bars" role="group" aria-label="${title}" data-histogram="${name}"></div><p class="scale"><span></span><span></span></p>`;
		this.bars = Array.from({length: BARS}, (_, k) => {
			const bar = document.createElement("button");
			bar.type = "button";
			bar.tabIndex = k ? -1 : 0;
			bar.append(document.createElement("span"));
			bar.addEventListener("click", () => on.choose(this.members[k], this.label(k)));
			root.querySelector(".bars").append(bar);
			return bar;
		});
		root.querySelector(".bars").addEventListener("keydown", (event) => {
			const k = this.bars.indexOf(document.activeElement),
				to = {ArrowLeft: k - 1, ArrowRight: k + 1, Home: 0, End: BARS - 1}[event.key];
			if (to === undefined || !this.bars[to]) return;
			event.preventDefault();
			this.bars.forEach((bar, i) => {
				bar.tabIndex = i === to ? 0 : -1;
			});
			this.bars[to].focus();
		});
	}

	label(k) {
		const [lo, hi] = [this.edges[k], this.edges[k + 1]];
		if (k === 0) return `${this.words} below ${format(hi)}`;
		return hi === Infinity
			? `${this.words} from ${format(lo)}`
			: `${this.words} from ${format(lo)} to ${format(hi)}`;
	}

	show(list) {
		this.list = list;
		this.members = this.bars.map(() => []);
		list.forEach((c, i) => {
			const value = this.of(c);
			if (!(value >= 0)) return;
			let k = BARS - 1;
			while (k > 0 && value < this.edges[k]) k--;
			this.members[k].push(i);
		});
		const most = Math.max(1, ...this.members.map((m) => m.length));
		this.bars.forEach((bar, k) => {
			const n = this.members[k].length;
			bar.firstChild.style.height = `${n ? Math.max(2, (100 * n) / most) : 0}%`;
			bar.setAttribute("aria-label", `${this.label(k)}: ${n} contacts`);
			bar.title = `${this.label(k)}: ${n}`;
			bar.dataset.count = n;
		});
		const [first, last] = this.root.querySelectorAll(".scale span");
		first.textContent = format(this.edges[1]);
		last.textContent = format(this.edges[BARS - 1]);
	}

	/* Marks the bar of the selected contact and those of the chosen ones. */
	select(index, chosen) {
		this.bars.forEach((bar, k) => {
			const members = this.members?.[k] ?? [];
			bar.classList.toggle("here", index >= 0 && members.includes(index));
			bar.setAttribute(
				"aria-pressed",
				String(chosen.size > 0 && members.length > 0 && members.every((i) => chosen.has(i))),
			);
		});
	}
}
