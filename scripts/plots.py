#!/usr/bin/python3
"""The palette of all pictures, and plots that are small and readable on light and dark pages.

usage: scripts/plots.py FILE.svg...    rewrites plots that Matplotlib has drawn: colours of the palette change with the
                                       page's, coordinates have one decimal, styles are shared, lines keep the points
                                       that are seen
A file that has been rewritten before stays as it is. docs/pictures holds plots in this form.
"""
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

# Colours of Okabe and Ito, and those that replace them in the dark. All pairs are tested for three forms of
# colour-blindness (tests/explorer/test_look.py).
BLUE, ORANGE, GREEN, YELLOW, SKY, PINK, GREY = "#0072b2", "#d55e00", "#009e73", "#e69f00", "#56b4e9", "#cc79a7", "#777777"
INK, PAPER, SOFT, GRID, BODY = "#1c2430", "#ffffff", "#535f6e", "#e9eaea", "#e8edf2"
IN_THE_DARK = {BLUE: "#5093e0", ORANGE: "#f07f3a", GREEN: "#1bc48a", YELLOW: "#f5d35c", SKY: "#a9d6ff", PINK: "#c4649c",
               INK: "#e6e9ec", PAPER: "#1b2027", SOFT: "#adb7c2", GRID: "#37404a", BODY: "#2c3540"}

# Replacements for Matplotlib's default colours and greys.
SAME = {"#000000": INK, "#ffffff": PAPER, **dict.fromkeys(("#ebebeb", "#dddddd"), GRID),
        **dict.fromkeys(("#e6e6e6", "#d9d9d9", "#bfbfbf", "#eef2f6"), BODY),
        **dict.fromkeys(("#777777", "#808080", "#4c4c4c", "#444444", "#404040", "#666666", "#999999"), SOFT)}

MARK = "/* themed */"
NAMESPACE = "http://www.w3.org/2000/svg"
LINK = "{http://www.w3.org/1999/xlink}href"
NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")
SMALL = 0.12  # how far a line may be from the points that it leaves out, in units of the picture
DEFAULTS = {"stroke-miterlimit": None, "stroke-linejoin": "round", "stroke-linecap": "butt", "stroke-dashoffset": "0",
            "opacity": "1", "stroke-width": "1", "fill-opacity": "1", "stroke-opacity": "1"}


def short(value, digits=1):
    text = f"{value:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "0") else re.sub(r"^(-?)0\.", r"\1.", text)


def rounded(text, digits=1):
    return NUMBER.sub(lambda found: short(float(found[0]), digits), text)


def thinned(points):
    """Leaves out points that are closer than SMALL to the line between those that stay (Ramer, Douglas, Peucker)."""
    kept, spans = {0, len(points) - 1}, [(0, len(points) - 1)]
    while spans:
        first, last = spans.pop()
        (x0, y0), (x1, y1) = points[first], points[last]
        dx, dy = x1 - x0, y1 - y0
        square = dx * dx + dy * dy
        worst, at = SMALL, None
        for i in range(first + 1, last):
            x, y = points[i][0] - x0, points[i][1] - y0
            t = min(1, max(0, (x * dx + y * dy) / square)) if square else 0
            distance = ((x - t * dx) ** 2 + (y - t * dy) ** 2) ** 0.5
            if distance > worst:
                worst, at = distance, i
        if at is not None:
            kept.add(at)
            spans += [(first, at), (at, last)]
    return [points[i] for i in sorted(kept)]


def path(d):
    """The same path with relative coordinates of one decimal."""
    commands = [(letter, [float(v) for v in NUMBER.findall(rest)]) for letter, rest in re.findall(r"([MLQCZz])([^MLQCZz]*)", d)]
    lines, written, at = [], [], [0, 0]  # at: in tenths, as written
    is_small = all(max(map(abs, values), default=0) < 20 for _, values in commands)  # a marker: two decimals
    scale = 100 if is_small else 10

    def write(letter, values):
        nonlocal at
        tenths = [round(v * scale) for v in values]
        relative = [v - at[i % 2] for i, v in enumerate(tenths)]
        at = tenths[-2:]
        text = ""
        for number in relative:
            one = short(number / scale, 2 if is_small else 1)
            text += one if not text or one.startswith("-") else " " + one
        written.append(letter + text)

    def flush():
        if len(lines) > 1:
            for each in (thinned(lines) if len(lines) > 8 else lines)[1:]:
                write("l", each)
        lines.clear()

    for letter, values in commands:
        if letter == "L":
            lines.append(tuple(values))
            continue
        last = lines[-1] if lines else None
        flush()
        if letter in "Zz":
            written.append("z")
        else:
            write(letter.lower() if written else "m", values)
            last = tuple(values[-2:])
        if letter in "Zz":
            start = last
        lines[:] = [last or start]
    flush()
    text = "".join(written)
    return "M" + text[1:]


def declarations(style):
    found = dict(re.findall(r"\s*([\w-]+):\s*([^;]+?)\s*(?:;|$)", style))
    for name in ("fill", "stroke"):
        if name in found:
            found[name] = SAME.get(found[name].lower(), found[name].lower())
    return {name: value for name, value in found.items() if name not in DEFAULTS or DEFAULTS[name] not in (None, value)}


class Themed:
    def __init__(self, text):
        self.root = ElementTree.fromstring(text)
        self.classes, self.names = {}, {}
        for element in list(self.root.iter()):
            for child in list(element):
                if child.tag.endswith(("}metadata", "}style")):
                    element.remove(child)
        self.definitions = {element.get("id"): declarations(element.get("style", "")) for element in self.root.iter() if element.get("id")}
        used = {value.lstrip("#") for element in self.root.iter() for value in (
            element.get(LINK, ""), *re.findall(r"url\(#(\w+)\)", element.get("clip-path", "")))}
        self.names = {name: f"i{k}" for k, name in enumerate(sorted(used - {""}))}
        for element in self.root.iter():
            self.tidy(element)
        self.hoist(self.root)
        self.unwrap(self.root)

    def tidy(self, element):
        tag = element.tag.split("}")[1]
        style = declarations(element.attrib.pop("style", ""))
        if tag == "use":
            name = element.attrib.pop(LINK).lstrip("#")
            style = {key: value for key, value in style.items() if key not in self.definitions.get(name, {})}
            element.set("href", "#" + self.names[name])
        if element.get("id"):
            name = element.attrib.pop("id")
            if name in self.names:
                element.set("id", self.names[name])
        if "clip-path" in element.attrib:
            element.set("clip-path", re.sub(r"#(\w+)", lambda found: "#" + self.names[found[1]], element.get("clip-path")))
        if "d" in element.attrib:
            element.set("d", path(element.get("d")))
        for name in ("x", "y", "width", "height", "viewBox"):
            if name in element.attrib and tag != "svg":
                element.set(name, rounded(element.get(name)))
        if "transform" in element.attrib:
            transform = element.get("transform")
            element.set("transform", rounded(transform, 3 if "scale" in transform else 1))
            if element.get("transform").startswith("rotate(0 "):
                del element.attrib["transform"]
        if style:
            key = "; ".join(f"{name}: {value}" for name, value in style.items())
            element.set("class", self.classes.setdefault(key, f"c{len(self.classes)}"))
        for part in ("text", "tail"):
            if not (getattr(element, part) or "").strip():
                setattr(element, part, None)

    def hoist(self, element):
        """Gives a group the class that all its members have."""
        for child in element:
            self.hoist(child)
        own = {child.get("class") for child in element if not child.tag.endswith("}defs")}
        if element.tag.endswith("}g") and len(own) == 1 and None not in own and not element.get("class"):
            element.set("class", own.pop())
            for child in element:
                child.attrib.pop("class", None)

    def unwrap(self, element):
        for child in list(element):
            self.unwrap(child)
        members = []
        for child in element:
            members += list(child) if child.tag.endswith("}g") and not child.attrib else [child]
        element[:] = members

    def style(self):
        light = [f".{name}{{{key}}}" for key, name in self.classes.items()]
        dark = []
        for key, name in self.classes.items():
            found = [f"{prop}: {IN_THE_DARK[value]}" for prop, value in re.findall(r"(fill|stroke): (#\w+)", key) if value in IN_THE_DARK]
            if found:
                dark.append(f".{name}{{{'; '.join(found)}}}")
        return "\n".join([MARK, "*{stroke-linejoin: round}", f"svg{{fill: {INK}}}", *light, "@media (prefers-color-scheme: dark) {",
                          f"svg{{fill: {IN_THE_DARK[INK]}}}", *dark, "}"])

    def text(self):
        ElementTree.register_namespace("", NAMESPACE)
        style = ElementTree.Element(f"{{{NAMESPACE}}}style")
        style.text = "\n" + self.style() + "\n"
        self.root.insert(0, style)
        written = ElementTree.tostring(self.root, encoding="unicode")
        return re.sub(r"(/>|</\w+>)(?=<)", r"\1\n", written).replace(" />", "/>") + "\n"


def themed(text):
    return text if MARK in text else Themed(text).text()


def main():
    for name in sys.argv[1:]:
        file = pathlib.Path(name)
        file.write_text(themed(file.read_text()))


if __name__ == "__main__":
    main()
