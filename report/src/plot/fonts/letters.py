"""Writes letters.txt: python3 letters.py DejaVuSans.ttf > letters.txt (needs fontTools)."""
import sys
from fontTools.pens.basePen import BasePen
from fontTools.ttLib import TTFont

RANGES = [(0x20, 0x7E), (0xA0, 0x17F), (0x386, 0x3CE), (0x400, 0x45F)]
SIGNS = "–—‘’“”•…€←↑→↓−≠≤≥�"


class Outline(BasePen):
    """Corners and quadratic curves as words."""

    def __init__(self, glyphs):
        super().__init__(glyphs)
        self.words = []

    def _moveTo(self, point):
        self.words += ["M", *point]

    def _lineTo(self, point):
        self.words += ["L", *point]

    def _qCurveToOne(self, control, point):
        self.words += ["Q", *control, *point]

    def _closePath(self):
        self.words += ["Z"]


font = TTFont(sys.argv[1])
glyphs, names = font.getGlyphSet(), font.getBestCmap()
letters = [code for first, last in RANGES for code in range(first, last + 1)] + [ord(sign) for sign in SIGNS]
for code in letters:
    if code in names:
        outline = Outline(glyphs)
        glyphs[names[code]].draw(outline)
        words = " ".join(str(round(w) if isinstance(w, float) else w) for w in outline.words)
        print(f"{code:04x} {glyphs[names[code]].width} {words}".rstrip())
