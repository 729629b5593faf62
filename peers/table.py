"""Writes what `run.py` measured: the table of docs/benchmarks.md and the figure docs/peers.svg.

    python peers/table.py out/peers/lines.jsonl --benchmarks docs/benchmarks.md --figure docs/peers.svg
"""

import argparse
import json
import pathlib

import inputs

HEADING = "## Peers on their own inputs"


def number(value):
    if value is None:
        return ""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}" if value >= 0.001 else f"{value:.4f}"


def part(value):
    """A small part of something: 0, or with two digits."""
    return "0" if value < 5e-13 else f"{value:.1e}"


def first(line):
    if line["first"] is None:
        return "none"
    return f"{line['first'][0]}: {line['first'][1]:+.1e}"


def row(line, ours):
    if "failed" in line:
        return [line["peer"], *[""] * 6, line["failed"]]
    fairplan = line["peer"] == "fairplan"
    slower = "" if fairplan else f"{line['seconds'] / ours['seconds']:.3g}"
    seconds = number(line["seconds"]) + (f" (solver {number(line['solver'])}, `verify` {number(line['verify'])})" if fairplan else "")
    return [
        line["peer"], seconds, number(line["processor"]), slower, f"{line['smallest_feasible']:.6g}",
        "" if fairplan else f"{first(line)}; {part(line['largest'])}", part(line["violation"]), line.get("proof", "none"),
    ]


COLUMNS = [
    "by", "seconds", "processor", "times fairplan's", "smallest level", "first difference; largest", "violation", "proof",
]


def table(lines):
    out = []
    for name in dict.fromkeys(line["input"] for line in lines):
        of_input = [line for line in lines if line["input"] == name]
        ours = next(line for line in of_input if line["peer"] == "fairplan")
        out.append(f"\n### {name}\n\nLevels of the optimum: {ours.get('levels', 'unknown')}.\n")
        out.append("| " + " | ".join(COLUMNS) + " |")
        out.append("|" + "---|" * len(COLUMNS))
        out += ["| " + " | ".join(row(line, ours)) + " |" for line in of_input]
    return "\n".join(out) + "\n"


def lead(lines):
    """Where the promised numbers hold and where not, counted from the same lines."""
    ours = {(line["family"], line["jobs"]): line for line in lines if line["peer"] == "fairplan"}
    peers = [line for line in lines if line["peer"] != "fairplan" and "failed" not in line]
    more = [line for line in peers if line["first"] and line["first"][1] > 0]
    close = [line for line in peers if line["of_smallest"] <= 0.01]
    near = [line for line in close if line["largest"] <= 0.01]
    times = {id(line): line["seconds"] / ours[line["family"], line["jobs"]]["seconds"] for line in close}
    slow = lambda chosen: [line for line in chosen if line["jobs"] == 10000 and times[id(line)] < 100]
    name = lambda line: f"{line['peer']} on `{line['family']}` with {line['jobs']} ({times.get(id(line), 0):.2g})"
    some = lambda chosen: "; ".join(map(name, chosen)) or "none"
    unproved = [f"`{f}` with {n}" for (f, n), line in ours.items() if not line.get("proof", "none").startswith("gap")]
    return "\n".join([
        f"- Peers with a larger lexicographic vector: {some(more)}.",
        f"- Worst violation of fairplan: {part(max(line['violation'] for line in ours.values()))}.",
        f"- Not proved by fairplan: {', '.join(unproved) or 'none'}.",
        f"- Peers within 1% of the optimum in the smallest level: {len(close)} lines; in all sorted levels: {len(near)}.",
        "- Of the former, less than fairplan's seconds (in parentheses, how many times fairplan's): "
        f"{some([line for line in close if times[id(line)] < 1])}.",
        f"- Within 1% in all levels with 10,000 jobs, and less than 100 times fairplan's seconds: {some(slow(near))}.",
        f"- The same in the smallest level only: {some(slow([line for line in close if line not in near]))}.",
    ])


TEXT = """
What `peers/run.py` measured and `peers/table.py` wrote, as `make peers` calls them (`peers/README.md` says how, and where each input and each peer comes from). {machine}; {note}

Seconds of a peer are from the problem in memory to the allocation in memory, model included, Python's start not. fairplan's are the best of three of
the whole command (a peer's too, unless one takes 5 s), with the process, reading JSON and writing the whole result; beside it what the solver states, and `verify`. Processor
seconds are those of all threads. A level is a job's normalised throughput, by priority. *First difference*: the sorted levels are compared with
fairplan's, position by position; the first position that differs by more than a millionth, and by which part. *Largest*: the
largest such difference. An allocation that does not fit is scaled down before that; *violation* is what it was overdrawn by, as a
part, and 0 below 5e-13, which is rounding. *Proof*: whether the answer comes with what anybody can check without solving again. One seed for
each input; 60 s for a peer, 240 s for DeDe.

Gavel's, Soroush's and POP's algorithms are our implementations of what their papers describe, on open solvers (theirs used ECOS, GLPK and Gurobi); DeDe
is its own package with Clarabel, through its general interface, which its authors say costs it speed. It is run with up to
512 jobs, where it takes minutes; its penalty and iterations were chosen on 64 of Gavel's jobs of three penalties; on 64 of its own, two others came no
closer. Of the water-fillers two ways to weigh were tried on 512 jobs, and the better is shown. POP's parts are solved one after another; with a processor for each it would take about a part of its
seconds. Gavel's jobs are of 83 types, so that many are alike: fairplan treats alike users as one, and none of the
published peers does. *HiGHS level by level* is no published system, but what one would write for the same answer, and the independent
reference for ours; *merged*, it has alike users as one, too.

"""


def draw(lines, path):
    """Time against distance, for four inputs of 10,000 jobs: alike and not, on one level and on many, proved and not."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    matplotlib.rcParams.update({"svg.hashsalt": "peers", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 9})
    colours = {"fairplan": "#c2410c", "Gavel": "#1d4ed8", "POP": "#15803d", "Soroush": "#7e22ce", "DeDe": "#0f766e", "HiGHS": "#525252"}
    shown = [
        ("gavel", "Gavel's jobs, few GPUs"), ("gavel-room", "Gavel's jobs, many GPUs"),
        ("dede", "DeDe's ten types"), ("dede-drawn", "the same, drawn throughputs"),
    ]
    least = 1e-9
    figure, panels = plt.subplots(1, len(shown), figsize=(11, 3.7), sharey=True, layout="constrained")
    for panel, (family, title) in zip(panels, shown):
        points = [line for line in lines if line["family"] == family and line["jobs"] == 10000 and "failed" not in line]
        for line in points:
            system = line["peer"].split()[0]
            panel.scatter(
                line["seconds"], max(line["largest"], least), color=colours[system], s=90 if system == "fairplan" else 34,
                marker="*" if system == "fairplan" else "o", zorder=3, label=system,
            )
            if system == "fairplan":
                said = "fairplan, proved" if line["proof"].startswith("gap") else "fairplan, not proved"
                panel.annotate(
                    said, (line["seconds"], least), (0, 17), textcoords="offset points", ha="center", color=colours[system], weight="bold"
                )
        panel.set(xscale="log", yscale="log", xlim=(0.003, 300), ylim=(least / 3, 1000), title=title, xlabel="seconds")
        panel.axhline(0.01, color="#737373", linewidth=0.8, linestyle="--", zorder=1)
        panel.grid(color="#f0f0f0", zorder=0)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("largest difference of the sorted levels\n(1e-9 and less: at the bottom)")
    handles = {label: handle for panel in panels for handle, label in zip(*panel.get_legend_handles_labels())}
    figure.legend(handles.values(), handles.keys(), ncols=len(handles), loc="outside lower center", frameon=False)
    figure.suptitle("10,000 jobs: time against distance to the max-min optimum (left and low is better; dashed: 1%)", fontsize=10)
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description="The table and the figure of what run.py measured")
    parser.add_argument("lines", type=pathlib.Path)
    parser.add_argument("--benchmarks", type=pathlib.Path, help="the page whose part of peers is written anew")
    parser.add_argument("--figure", type=pathlib.Path)
    parser.add_argument("--note", default="nothing is known of what else ran on the machine.", help="what else the machine did meanwhile")
    asked = parser.parse_args()
    lines = [json.loads(line) for line in asked.lines.read_text().splitlines()]
    families = "\n".join(f"- `{family}`: {says}." for family, says in inputs.FAMILIES.items())
    written = (
        HEADING + "\n" + TEXT.format(machine=lines[0]["machine"], note=asked.note)
        + lead(lines) + "\n\nInputs, by `peers/inputs.py FAMILY --jobs N`:\n\n" + families + "\n" + table(lines)
    )
    if asked.benchmarks:
        page = asked.benchmarks.read_text()
        before, found, after = page.partition(HEADING + "\n")
        if found:
            after = after[after.find("\n## ") + 1 :] if "\n## " in after else ""
        else:
            before, after = page.rstrip("\n") + "\n\n", ""
        asked.benchmarks.write_text(before + written + ("\n" + after if after else ""))
    else:
        print(written)
    if asked.figure:
        draw(lines, asked.figure)


if __name__ == "__main__":
    main()
