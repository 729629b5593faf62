"""What the tests share: the command, and instances of many kinds."""

import os
import pathlib
import subprocess
from collections.abc import Callable

import pytest

import fairplan as fp

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def command(tmp_path: pathlib.Path) -> Callable[..., bytes]:
    """Runs the command in a folder of its own; returns standard output."""

    def run(*words: str, status: int = 0) -> bytes:
        line = [os.environ["FAIRPLAN"], "--quiet", *words]
        done = subprocess.run(line, cwd=tmp_path, check=False, capture_output=True)
        assert done.returncode == status, done.stderr.decode()
        return done.stdout

    return run


INSTANCES = {
    "fig1": lambda: fp.generate.drfh_fig1(),
    "fig4": lambda: fp.generate.drfh_fig4(),
    "google": lambda: fp.generate.google(servers=60, users=15, seed=3),
    "finite": lambda: fp.generate.google(servers=60, users=15, seed=4, finite=True),
    "weighted": lambda: fp.generate.population(kind="weighted", users=8, cluster="random:3x2", seed=5),
    "zeros": lambda: fp.generate.population(kind="zeros", users=20, cluster="distinct:9", seed=6),
}


@pytest.fixture(params=INSTANCES)
def cluster(request: pytest.FixtureRequest) -> fp.Instance:
    """Each of the instances."""
    return INSTANCES[request.param]()
