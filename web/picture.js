/* Pictures as files: an SVG with its styles as attributes, and a PNG. The page's policy forbids images from data: and
 * blob:, so the PNG is painted from the elements rather than from the SVG as an image. */

const STYLES = [
	"fill",
	"fill-opacity",
	"stroke",
	"stroke-opacity",
	"stroke-width",
	"stroke-dasharray",
	"stroke-linejoin",
	"opacity",
	"font-size",
	"font-family",
	"font-weight",
	"font-style",
	"text-anchor",
];
const GAP = 16;
const NAMESPACE = "http://www.w3.org/2000/svg";

const paper = () => getComputedStyle(document.body).backgroundColor;

/* Places the pictures below each other: {width, height, places: [{element, y, box}]}. */
function stack(pictures) {
	let y = GAP;
	const places = pictures.map((element) => {
		const box = element.getBoundingClientRect(),
			place = {element, y, box};
		y += box.height + GAP;
		return place;
	});
	return {width: Math.max(...places.map(({box}) => box.width)) + 2 * GAP, height: y, places};
}

/* ---- SVG ---- */

function styled(element) {
	const copy = element.cloneNode(true);
	const from = [element, ...element.querySelectorAll("*")],
		to = [copy, ...copy.querySelectorAll("*")];
	from.forEach((original, i) => {
		const style = getComputedStyle(original);
		for (const name of STYLES) to[i].setAttribute(name, style.getPropertyValue(name));
		for (const name of [...to[i].getAttributeNames()])
			if (/^(class|id|tabindex|role|aria-.*|data-.*)$/.test(name)) to[i].removeAttribute(name);
	});
	return copy;
}

export function svgOf(pictures) {
	const {width, height, places} = stack(pictures);
	const whole = document.createElementNS(NAMESPACE, "svg");
	for (const [name, value] of Object.entries({width, height, viewBox: `0 0 ${width} ${height}`}))
		whole.setAttribute(name, value);
	const back = document.createElementNS(NAMESPACE, "rect");
	for (const [name, value] of Object.entries({width, height, fill: paper()})) back.setAttribute(name, value);
	whole.append(back);
	for (const {element, y, box} of places) {
		const copy = element instanceof SVGSVGElement ? styled(element) : imageOf(element);
		for (const [name, value] of Object.entries({x: GAP, y, width: box.width, height: box.height}))
			copy.setAttribute(name, value);
		whole.append(copy);
	}
	return new XMLSerializer().serializeToString(whole);
}

function imageOf(canvas) {
	const image = document.createElementNS(NAMESPACE, "image");
	image.setAttribute("href", canvas.toDataURL());
	return image;
}

/* ---- PNG ---- */

const SHAPES = {
	line: (e, path) => {
		path.moveTo(e.x1.baseVal.value, e.y1.baseVal.value);
		path.lineTo(e.x2.baseVal.value, e.y2.baseVal.value);
	},
	rect: (e, path) => path.rect(e.x.baseVal.value, e.y.baseVal.value, e.width.baseVal.value, e.height.baseVal.value),
	circle: (e, path) => path.arc(e.cx.baseVal.value, e.cy.baseVal.value, e.r.baseVal.value, 0, 2 * Math.PI),
	ellipse: (e, path) =>
		path.ellipse(e.cx.baseVal.value, e.cy.baseVal.value, e.rx.baseVal.value, e.ry.baseVal.value, 0, 0, 2 * Math.PI),
	polygon: (e, path) => {
		for (const {x, y} of e.points) path.lineTo(x, y);
		path.closePath();
	},
	polyline: (e, path) => {
		for (const {x, y} of e.points) path.lineTo(x, y);
	},
	path: (e, path) => path.addPath(new Path2D(e.getAttribute("d"))),
};

const isPaint = (value) => value !== "none" && value !== "";

function paintShape(to, element, style) {
	const path = new Path2D();
	SHAPES[element.localName](element, path);
	if (isPaint(style.fill) && element.localName !== "line") {
		to.globalAlpha = style.opacity * style.fillOpacity;
		to.fillStyle = style.fill;
		to.fill(path);
	}
	if (isPaint(style.stroke)) {
		to.globalAlpha = style.opacity * style.strokeOpacity;
		to.strokeStyle = style.stroke;
		to.lineWidth = parseFloat(style.strokeWidth);
		to.lineJoin = style.strokeLinejoin;
		to.setLineDash(style.strokeDasharray === "none" ? [] : style.strokeDasharray.split(/[\s,]+/).map(parseFloat));
		to.stroke(path);
	}
}

/* Every run of characters with one style is painted where its first one is shown. */
function paintText(to, text) {
	let at = 0;
	const walk = (node) => {
		if (node.nodeType !== Node.TEXT_NODE) {
			node.childNodes.forEach(walk);
			return;
		}
		const style = getComputedStyle(node.parentElement),
			n = node.data.length;
		if (n > 0 && at < text.getNumberOfChars()) {
			const {x, y} = text.getStartPositionOfChar(at);
			to.globalAlpha = style.opacity * style.fillOpacity;
			to.fillStyle = style.fill;
			to.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
			to.fillText(node.data, x, y);
		}
		at += n;
	};
	walk(text);
}

function paint(to, svg, x, y, scale) {
	for (const element of svg.querySelectorAll(`text, ${Object.keys(SHAPES).join()}`)) {
		const style = getComputedStyle(element),
			{a, b, c, d, e, f} = element.getCTM();
		if (style.visibility === "hidden" || style.display === "none") continue;
		to.setTransform(scale * a, scale * b, scale * c, scale * d, scale * (e + x), scale * (f + y));
		if (element.localName === "text") paintText(to, element);
		else paintShape(to, element, style);
	}
}

export function pngOf(pictures, scale = 2) {
	const {width, height, places} = stack(pictures);
	const canvas = Object.assign(document.createElement("canvas"), {width: scale * width, height: scale * height});
	const to = canvas.getContext("2d");
	to.fillStyle = paper();
	to.fillRect(0, 0, canvas.width, canvas.height);
	for (const {element, y, box} of places) {
		to.save();
		to.setTransform(scale, 0, 0, scale, 0, 0);
		to.beginPath();
		to.rect(GAP, y, box.width, box.height);
		to.clip();
		if (element instanceof SVGSVGElement) paint(to, element, GAP, y, scale);
		else to.drawImage(element, GAP, y, box.width, box.height);
		to.restore();
	}
	return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}
