"""Formulas as the pages write them, in one line of Unicode ("G1 = μs (2z − z²)"), as MathML.

formula(text) gives a <math> element as text, block(lines) a table of formulas whose columns are those of the lines, and
runs(text) splits prose into plain text and formulas.
"""
import html
import re

SUPER = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ᵀᵗˣᵏ", "0123456789−+Ttxk"))
SUB = dict(zip("₀₁₂₃₄₅₆₇₈₉ₐₖₓ⊥∥", "0123456789akx⊥∥"))
PARTS = {"½": (1, 2), "¼": (1, 4), "¾": (3, 4), "⅔": (2, 3), "⅓": (1, 3)}
GREEK = "αβγδεηθκλμνξπρσςτφχψωΓΔΘΛΠΣΦΨΩ"
FUNCTIONS = {"min", "max", "ln", "erf", "diag", "sin", "cos", "tan", "exp", "sign", "sinh", "cosh", "arctan"}
OPERATORS = "=+−-·×∘⊗≤≥<>±∓,;:→∈≈…⁄"
MARKS = "\u0300-\u036f"
TOKEN = re.compile(
    r"(?P<space>\s+)"
    r"|(?P<number>\d+(?:\.\d+)?(?:e[−-]?\d+)?)"
    r"|(?P<name>[A-Za-z]+(?:_[A-Za-z0-9]+)+)"
    rf"|(?P<letter>(?:[{GREEK}]|[A-Za-z\u00c0-\u024f\u1e00-\u1eff](?![A-Za-z]))[{MARKS}¯˙]*)"
    r"|(?P<word>[A-Za-z][A-Za-z’]+[¯˙]*)"
    rf"|(?P<super>[{''.join(SUPER)}]+)|(?P<sub>[{''.join(SUB)}]+)"
    r"|(?P<prime>[′″']+)|(?P<other>.)", re.S)


def tag(name, *inner):
    return f"<{name}>{''.join(inner)}</{name}>"


def mrow(*parts):
    parts = [part for part in parts if part]
    return parts[0] if len(parts) == 1 else tag("mrow", *parts)


def operator(character):
    stretchy = ' stretchy="false"' if character in "()[]{}|‖" else ""
    return f"<mo{stretchy}>{html.escape('−' if character == '-' else character)}</mo>"


class Parser:
    """Reads one formula. A unit is what is written without spaces; units stand beside each other in a row."""

    def __init__(self, text):
        self.tokens = [(match.lastgroup, match[0]) for match in TOKEN.finditer(text)]
        self.at = 0

    def peek(self, ahead=0):
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else ("end", "")

    def take(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def row(self, until=""):
        """Everything up to a closing bracket, or to the end: elements as text, and whether the bracket was there."""
        parts, term = [], 0
        while self.peek()[0] != "end":
            kind, text = self.peek()
            if until and kind == "other" and text == until:
                self.take()
                return parts, True
            if kind == "space":
                self.take()
                if self.peek()[1] == "/" and self.peek(1)[0] == "space" and len(parts) > term:
                    self.at += 2
                    below = self.product(until)
                    parts[term:] = [tag("mfrac", mrow(*parts[term:]), below)]
            elif kind == "other" and text in OPERATORS:
                self.take()
                parts.append(operator(text))
                term = len(parts)
            elif kind == "word" and text not in FUNCTIONS and not self.is_product(text):
                parts.append(self.words())
            else:
                parts.append(self.unit())
        return parts, False

    def product(self, until):
        """A denominator after " / ": what follows up to the next operator."""
        parts = []
        while self.peek()[0] != "end" and not (self.peek()[0] == "other" and self.peek()[1] in OPERATORS + until):
            if self.peek()[0] == "space":
                if len(self.tokens) > self.at + 1 and self.peek(1)[0] == "word":
                    break
                self.take()
            else:
                parts.append(self.unit())
        return mrow(*parts)

    @staticmethod
    def is_product(word):
        """uu in uuᵀ."""
        return len(word) == 2 and word[0] == word[1]

    def words(self):
        text = self.take()[1]
        while self.peek()[0] == "space" and self.peek()[1] == " " and self.peek(1)[0] == "word" and \
                self.peek(1)[1] not in FUNCTIONS:
            self.take()
            text += " " + self.take()[1]
        return tag("mtext", "\u00a0" + html.escape(text) + "\u00a0")

    def unit(self):
        """Factors without spaces between them; a/b becomes a fraction."""
        parts = [self.factor()]
        while True:
            kind, text = self.peek()
            if kind == "other" and text == "/":
                if self.peek(1)[0] in ("space", "end"):
                    self.take()
                    parts.append(operator("/"))
                    break
                self.take()
                below = [self.factor(bare=True)]
                while self.peek()[0] in ("letter", "name") or self.peek()[1] in "([" and self.peek()[0] == "other":
                    below.append(self.factor())
                parts = [tag("mfrac", self.without_brackets(parts), mrow(*below))]
            elif kind in ("letter", "name", "number") or kind == "other" and text in "([√∫∇∂" or \
                    kind == "word" and self.is_product(text):
                parts.append(self.factor())
            else:
                break
        return mrow(*parts)

    def without_brackets(self, parts):
        inner = mrow(*parts)
        match = re.fullmatch(r'<mrow><mo stretchy="false">\(</mo>(.*)<mo stretchy="false">\)</mo></mrow>', inner, re.S)
        return tag("mrow", match[1]) if match and match[1].count("<mrow") == match[1].count("</mrow") else inner

    def factor(self, bare=False):
        kind, text = self.take()
        if kind == "number":
            base = tag("mn", text)
        elif kind == "letter":
            return self.letter(text)
        elif kind == "name":
            head, _, tail = text.partition("_")
            base = tag("msub", tag("mi", head), tag("mtext", tail)) if len(head) == 1 else tag("mtext", html.escape(text))
        elif kind == "word" and text in FUNCTIONS:
            base = tag("mi", text) if self.peek()[1] == "(" else tag("mrow", tag("mi", text), operator("\u2061"))
        elif kind == "word":
            base = mrow(*(tag("mi", letter) for letter in text))
        elif text in PARTS:
            base = tag("mfrac", *(tag("mn", str(number)) for number in PARTS[text]))
        elif text in "([":
            base = self.bracket(text, bare)
        elif text in "|‖":
            inner, closed = self.row(text)
            base = mrow(operator(text), *inner, operator(text) if closed else "")
        elif text == "√":
            base = tag("msqrt", self.factor(bare=True))
        elif kind == "super":
            return tag("msup", mrow(), self.raised(text))
        else:
            base = operator(text)
        return self.scripts(base)

    def bracket(self, text, bare):
        inner, closed = self.row({"(": ")", "[": "]"}[text])
        after = self.peek()
        if bare and closed and text == "(" and after[0] not in ("super", "sub", "prime") and after[1] != "^":
            return mrow(*inner)
        return mrow(operator(text), *inner, operator({"(": ")", "[": "]"}[text]) if closed else "")

    def letter(self, text):
        """μs, μk, μi and f1: the letter has a subscript."""
        kind, following = self.peek()
        lower = ""
        if text[0] == "μ" and kind == "letter" and following in "skij":
            lower = tag("mi", self.take()[1])
        elif text[0] in "fgGDevtabwpβμAB" and kind == "number" and re.fullmatch(r"\d", following):
            lower = tag("mn", self.take()[1])
        return self.scripts(tag("mi", text), lower)

    @staticmethod
    def raised(text):
        text = "".join(SUPER[one] for one in text)
        return mrow(*(operator(one) if one in "−+" else tag("mi" if one.isalpha() else "mn", one) for one in text))

    def scripts(self, base, lower=""):
        upper = ""
        while True:
            kind, text = self.peek()
            if kind == "super":
                upper += self.raised(self.take()[1])
            elif kind == "sub":
                lower += "".join(tag("mn" if SUB[one].isdigit() else "mi", SUB[one]) for one in self.take()[1])
            elif kind == "prime":
                upper += operator(self.take()[1].replace("'", "′"))
            elif text == "^":
                self.take()
                upper += self.factor(bare=True)
            else:
                break
        if lower and upper:
            return tag("msubsup", base, mrow(lower), mrow(upper))
        if lower or upper:
            return tag("msub" if lower else "msup", base, mrow(lower or upper))
        return base


def formula(text):
    parser = Parser(text.strip())
    parts = []
    while parser.peek()[0] != "end":
        inner, _ = parser.row()
        parts += inner
    return f'<math alttext="{html.escape(text.strip())}">{tag("mrow", *parts)}</math>'


IS_MATH = re.compile(rf"[{GREEK}{''.join(SUPER)}{''.join(SUB)}∇∂∫√Σ=≤≥<>·×∘⊗‖|′″{MARKS}ẏ]|^[A-Za-z]$|^[fG]\d")


def cell(text):
    words = re.findall(r"[A-Za-z]{2,}", re.sub(r"[A-Za-z]+_\w+", "", text))
    if not IS_MATH.search(text) or len(words) > 6:
        return prose(text)
    return formula(text)


def prose(text):
    return "".join(formula(part) if is_math else html.escape(part) for part, is_math in runs(text))


def block(lines):
    """A table: a cell begins where two spaces precede it, and spans up to the next cell of its line."""
    rows = [[(match.start(), match[0]) for match in re.finditer(r"\S+(?: \S+)*", line)] for line in lines]
    starts = sorted({start for row in rows for start, _ in row})
    out = []
    for row in rows:
        places = [starts.index(start) for start, _ in row] + [len(starts)]
        cells = [f'<td colspan="{places[0]}"></td>'] if row and places[0] else []
        for (_, text), first, after in zip(row, places, places[1:]):
            span = f' colspan="{after - first}"' if after - first > 1 else ""
            cells.append(f"<td{span}>{cell(text)}</td>")
        out.append("<tr>" + "".join(cells) + "</tr>")
    return '<table class="formulas" role="presentation">' + "".join(out) + "</table>"


# ---- formulas in prose ----

STRONG = re.compile(rf"[{GREEK}{''.join(one for one in SUPER)}{''.join(SUB)}∇∂√‖{MARKS}]|^\(?[fG][012](\(y\)|\b)")
GLUE = re.compile(r"^[=+−·×<>≤≥±/]$")
UNIT = re.compile(r"^\(?(?:k?N|mm|m|s|kg|Hz|J|Pa|rad|ms|°)(?:[²³])?(?:[·/](?:m|s|N|kg|rad|Hz)[²³]?)*\)?$")


def kind_of(word, before):
    bare = word.rstrip(".,;:")
    if bare in FUNCTIONS:
        return "weak"
    left = re.sub(r"[A-Za-z]_\w+", "x", re.sub(rf"\b(?:{'|'.join(sorted(FUNCTIONS))})(?=\()", "", bare))
    if UNIT.match(bare) and (re.search(r"\d$", before) or len(bare) > 1 and not STRONG.search(bare.strip("²³"))):
        return ""
    if bare in ("μs", "μs)") and re.search(r"\d$", before) or re.search(r"[A-Za-z]{2}|^[23]D", left) or "://" in bare:
        return ""
    if bare in ("a", "I", "A"):
        return "article"
    if GLUE.match(bare):
        return "glue"
    if STRONG.search(left):
        return "strong"
    return "weak" if re.fullmatch(r"[\w()\[\]|+−/·′″.,=^]+", left) else ""


def runs(text):
    """Parts of prose: (text, whether it is a formula)."""
    words = re.split(r"(\s+)", text)
    kinds = [kind_of(word, "".join(words[max(0, i - 2):i]).strip()) if i % 2 == 0 and word else "" for i, word in
             enumerate(words)]
    done, i = [], 0
    while i < len(words):
        if not kinds[i] or kinds[i] == "article" and kinds[i + 2:i + 3] != ["glue"]:
            done.append((words[i], False))
            i += 1
            continue
        end = i + 1
        while end + 1 < len(words) and words[end] in (" ", "\n") and not ends(words[i:end]) and (
                kinds[end + 1] and (kinds[end + 1] != "article" or kinds[end + 3:end + 4] > [""]) or closes(words[i:end], words[end + 1])):
            end += 2
        done += run(words[i:end], kinds[i:end])
        i = end
    return done


def ends(words):
    """Whether punctuation outside of brackets ends a run."""
    text = "".join(words)
    return text[-1] in ".,;:" and text.count("(") <= text.count(")")


def closes(words, word):
    """Whether a word ends what a root's bracket has begun: "√(1 − push/(μN))"."""
    text = "".join(words)
    return "√" in text and (text + word).count("(") <= (text + word).count(")") and text.count("(") > text.count(")")


def run(words, kinds):
    """A run without the letters at its ends that may be words; plain text if nothing in it is certain."""
    text = "".join(words)
    is_equation = re.search(r" [=<>≤≥] ", text) and re.search(r"[A-Za-z]", text)
    if "strong" not in kinds and not is_equation:
        return [(text, False)]
    first, last = 0, len(words)
    while kinds[first] == "glue":
        first += 2
    while last > first and kinds[last - 1] == "glue":
        last -= 2
    inner = "".join(words[first:last])
    tail = re.search(r"[.,;:]*$", inner)[0]
    inner = inner[:len(inner) - len(tail)]
    while inner.endswith(")") and inner.count(")") > inner.count("("):
        inner, tail = inner[:-1], ")" + tail
    head = ""
    while inner.startswith("(") and inner.count("(") > inner.count(")"):
        inner, head = inner[1:], head + "("
    parts = [("".join(words[:first]) + head, False), (inner, True), (tail + "".join(words[last:]), False)]
    return [part for part in parts if part[0]]
