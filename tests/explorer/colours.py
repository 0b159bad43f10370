"""Colours as people see them: three forms of colour-blindness (Machado, Oliveira and Fernandes 2009, complete ones), and the
difference of two colours, CIEDE2000."""
import math

BLIND = {
    "none": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def linear(rgb):
    return [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in (v / 255 for v in rgb)]


def lab(rgb, blindness="none"):
    """CIELAB (D65) of an sRGB colour (0 to 255), as it appears."""
    seen = [min(1, max(0, sum(m * v for m, v in zip(row, linear(rgb))))) for row in BLIND[blindness]]
    xyz = [sum(m * v for m, v in zip(row, seen)) / white for row, white in zip(
        [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]],
        (0.95047, 1, 1.08883))]
    f = [v ** (1 / 3) if v > 216 / 24389 else (24389 / 27 * v + 16) / 116 for v in xyz]
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


def difference(one, other):
    """CIEDE2000 of two colours in CIELAB."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    c7 = ((math.hypot(a1, b1) + math.hypot(a2, b2)) / 2) ** 7
    g = 0.5 * (1 - math.sqrt(c7 / (c7 + 25**7)))
    a1, a2 = (1 + g) * a1, (1 + g) * a2
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = (math.degrees(math.atan2(b, a)) % 360 if a or b else 0 for a, b in ((a1, b1), (a2, b2)))
    dh = 0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    mean = h1 + h2 if c1 * c2 == 0 else (h1 + dh / 2) % 360
    l, c = (l1 + l2) / 2, (c1 + c2) / 2
    t = sum(k * math.cos(math.radians(n * mean + at)) for k, n, at in ((1, 0, 0), (-0.17, 1, -30), (0.24, 2, 0), (0.32, 3, 6), (-0.2, 4, -63)))
    sl = 1 + 0.015 * (l - 50) ** 2 / math.sqrt(20 + (l - 50) ** 2)
    sc, sh = 1 + 0.045 * c, 1 + 0.015 * c * t
    turn = math.radians(60 * math.exp(-(((mean - 275) / 25) ** 2)))
    rt = -2 * math.sqrt(c**7 / (c**7 + 25**7)) * math.sin(turn)
    x, y, z = (l2 - l1) / sl, (c2 - c1) / sc, 2 * math.sqrt(c1 * c2) * math.sin(math.radians(dh / 2)) / sh
    return math.sqrt(x * x + y * y + z * z + rt * y * z)


def least(one, other):
    """The least difference over all forms of colour-blindness, and the form."""
    return min((difference(lab(one, kind), lab(other, kind)), kind) for kind in BLIND)
