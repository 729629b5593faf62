#!/usr/bin/env python3
"""Draws text as it stands in a terminal: terminal-picture.py TITLE < text > picture.svg

Words stand each at a place of their own: no viewer need keep blanks, which browsers do not do alike in SVG.
"""
import html
import re
import sys

LINE, LETTER, MARGIN, BAR = 18, 8.43, 18, 34


def texts(line):
    """The runs of a line between two blanks or more, and where each begins."""
    return [(run.start(), run.group()) for run in re.finditer(r"\S+(?: \S+)*", line)]


def main():
    lines = sys.stdin.read().rstrip("\n").expandtabs().split("\n")
    width = int(2 * MARGIN + LETTER * max(map(len, lines)))
    height = BAR + MARGIN + LINE * len(lines)
    title = html.escape(sys.argv[1] if len(sys.argv) > 1 else "")
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">')
    print(f'<title>{title}</title><rect width="100%" height="100%" rx="8" fill="#1c2128"/>')
    for i, colour in enumerate(("#e5534b", "#c69026", "#57ab5a")):
        print(f'<circle cx="{20 + 18 * i}" cy="17" r="5.5" fill="{colour}"/>')
    middle = width / 2
    print(f'<text x="{middle}" y="22" fill="#768390" font-family="monospace" font-size="13" text-anchor="middle">{title}</text>')
    print('<g fill="#cdd9e5" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14">')
    for i, line in enumerate(lines):
        y = BAR + LINE * (i + 1) - 4
        if line.strip() and not line.strip("─ "):
            # A rule is a line: letters that are stretched have gaps.
            end = MARGIN + LETTER * len(line)
            print(f'<path d="M{MARGIN} {y - 4.5}H{end:.1f}" stroke="#cdd9e5"/>')
            continue
        bold = ' font-weight="bold" fill="#6cb6ff"' if line.startswith("$ ") else ""
        for start, words in texts(line):
            x, length = MARGIN + LETTER * start, LETTER * len(words)
            print(f'<text x="{x:.1f}" y="{y}" textLength="{length:.1f}"{bold}>{html.escape(words)}</text>')
    print("</g></svg>")


main()
