#!/usr/bin/env python3
"""Draws text as it stands in a terminal: terminal-picture.py TITLE < text > picture.svg"""
import html
import sys

LINE, LETTER, MARGIN, BAR = 18, 8.43, 18, 34
lines = sys.stdin.read().rstrip("\n").expandtabs().split("\n")
width = int(2 * MARGIN + LETTER * max(map(len, lines)))
height = BAR + MARGIN + LINE * len(lines)
title = html.escape(sys.argv[1] if len(sys.argv) > 1 else "")
print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">')
print(f'<title>{title}</title><rect width="100%" height="100%" rx="8" fill="#1c2128"/>')
for i, colour in enumerate(("#e5534b", "#c69026", "#57ab5a")):
    print(f'<circle cx="{20 + 18 * i}" cy="17" r="5.5" fill="{colour}"/>')
print(f'<text x="{width / 2}" y="22" fill="#768390" font-family="monospace" font-size="13" text-anchor="middle">{title}</text>')
print('<g fill="#cdd9e5" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" xml:space="preserve">')
for i, line in enumerate(lines):
    bold = ' font-weight="bold" fill="#6cb6ff"' if line.startswith("$ ") else ""
    if line:
        print(f'<text x="{MARGIN}" y="{BAR + LINE * (i + 1) - 4}" textLength="{LETTER * len(line):.1f}"{bold}>{html.escape(line)}</text>')
print("</g></svg>")
