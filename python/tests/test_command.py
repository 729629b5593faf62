"""The command of the package, script and module, is to whoever calls it the command that is a program of its own."""

import os
import pathlib
import pty
import shutil
import signal
import subprocess
import sys
import time
import typing

import pytest

import fairplan as fp

PROGRAM = os.environ["FAIRPLAN"]
SCRIPT = [str(pathlib.Path(sys.executable).with_name("fairplan"))]
MODULE = [sys.executable, "-P", "-m", "fairplan"]
EVERY = [[PROGRAM], SCRIPT, MODULE]


def told(command: list[str], line: str, folder: pathlib.Path, **options: typing.Any) -> tuple[int, bytes, bytes]:
    """Exit status, standard output and standard error of a line in the shell, where ``fairplan`` is this command."""
    named = " ".join(f"'{word}'" for word in command)
    script = f"fairplan() {{ {named} \"$@\"; }}\n{line}"
    done = subprocess.run(["bash", "-c", script], cwd=folder, check=False, capture_output=True, **options)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    """With an instance, its solution, and one that is wrong."""
    cluster = fp.generate.drfh_fig1()
    cluster.write(tmp_path / "i.json")
    solution = fp.solve(cluster)
    solution.write(tmp_path / "s.json")
    (tmp_path / "wrong.json").write_text(solution.to_json().replace("10.0", "11.0"))
    shutil.copy(tmp_path / "i.json", os.fsencode(tmp_path) + b"/\xff.json")
    return tmp_path


@pytest.mark.parametrize(
    "line",
    [
        "fairplan",
        "fairplan --help",
        "fairplan --version",
        "fairplan solve -h",
        "COLUMNS=60 fairplan place --help",
        "fairplan frobnicate",
        "fairplan solve --objectve pf",
        "fairplan schema solution",
        "fairplan completions bash",
        "fairplan generate drfh-fig1",
        "fairplan generate google --seed 3 | fairplan -q solve - --no-timing",
        "fairplan verify i.json s.json",
        "fairplan verify i.json wrong.json",
        "fairplan place i.json --servers-out -o p.json && cat p.json",
        "fairplan place i.json -o p.csv.gz && gunzip < p.csv.gz",
        "fairplan place /missing.json",
        "fairplan place $'\\xff.json'",
        "fairplan place i.json -o /missing/p.json",
        "fairplan place i.json -o /dev/full",
        "fairplan place i.json > /dev/full",
        "fairplan place i.json >&-",
        "fairplan place i.json 2>&-",
        "fairplan place - <&-",
        "fairplan place i.json -o p.json <&- >&- 2>&-; echo $?; cat p.json",
        "fairplan generate google | head -c 10; echo ${PIPESTATUS[0]}",
        "fairplan generate google 2> >(:) | cat",
        "(ulimit -f 8; fairplan generate google -o g.json) 2> /dev/null; echo $?; ls",
        "fairplan generate trace-drfh-fig4 | fairplan simulate - --time-limit 0.000001",
        "fairplan -q place i.json --policy-command 'sh -c \"read line; exit 3\"'",
        "echo '{\"command\": \"solve\", \"arguments\": [\"i.json\"], \"parameters\": {\"objective\": [\"drfh\", \"pf\"]}}' > x.json;"
        "fairplan sweep plan x.json -o x.jsonl && fairplan -q sweep run x.jsonl --all -o r && ls r && cat x.jsonl",
    ],
)
def test_every_line_is_answered_alike(line: str, folder: pathlib.Path):
    answers = [told(command, line, folder) for command in EVERY]
    assert answers[1] == answers[0]
    assert answers[2] == answers[0]


def ended(command: list[str], words: list[str], number: int, folder: pathlib.Path) -> tuple[int, bytes, list[str]]:
    """How a command ends that is sent a signal when it computes: its exit status, what it says, and the files that it leaves."""
    folder.mkdir()
    cluster = fp.generate.population(kind="spread", users=400, cluster="distinct:60", seed=1)
    cluster.write(folder / "i.json")
    command = [*command, *words]
    main, terminal = pty.openpty()
    # Progress is drawn for a terminal of a known kind.
    known = {**os.environ, "TERM": "xterm"}
    running = subprocess.Popen(
        command, cwd=folder, env=known, stdout=subprocess.PIPE, stderr=terminal, stdin=subprocess.DEVNULL
    )
    os.close(terminal)
    # What begins is told when signals are heard.
    said = b""
    while len(said) < 4:
        said += os.read(main, 4096)
    time.sleep(0.3)
    sent = time.perf_counter()
    running.send_signal(number)
    output, _ = running.communicate(timeout=30)
    os.close(main)
    assert time.perf_counter() - sent < 5
    return running.returncode, output, sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_it_alike(number: int, tmp_path: pathlib.Path):
    words = ["bound", "i.json", "-o", "b.json", "--time-limit", "60"]
    answers = [ended(command, words, number, tmp_path / str(at)) for at, command in enumerate(EVERY)]
    assert answers == [(-number, b"", ["i.json"])] * 3


def test_ctrl_c_asks_a_simulation_to_end_and_nothing_of_python_is_said(tmp_path: pathlib.Path):
    trace = tmp_path / "t.jsonl"
    words = ["-q", "generate", "trace-random", "--servers", "300", "--users", "50", "--jobs", "30000", "-o", str(trace)]
    subprocess.run([PROGRAM, *words], check=True)
    for command in EVERY:
        line = [*command, "-q", "simulate", str(trace), "--policy", "exact", "--dedicated", "-o", str(tmp_path / "s.json")]
        running = subprocess.Popen(line, stderr=subprocess.PIPE)
        time.sleep(1.5)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
        assert (running.returncode, said) == (3, b"error: stopped before the end: the result is partial\n"), command
        assert fp.Simulation.from_json((tmp_path / "s.json").read_text())["partial"]
        (tmp_path / "s.json").unlink()
