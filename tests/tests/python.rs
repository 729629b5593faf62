//! Python's package `fairplan`: built as a wheel, installed into an empty environment, and tried there.
//!
//! Needs python3 with venv, from 3.11 on; what is beyond the wheel itself needs PyPI too. Where they are missing the tests say so
//! and pass.

use crate::command_line::{binary, root};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The wheel of this machine, and an environment with it and the packages of the tests; or why there is none.
struct Tried {
    folder: tempfile::TempDir,
    wheel: PathBuf,
    /// The interpreter with the packages of `python/tests/requirements.txt`; or why there are none.
    with_packages: Result<PathBuf, String>,
}

/// Runs a command; what it says is the error if it fails.
fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let [told, complaint] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    if output.status.success() { Ok(told) } else { Err(format!("{command:?}: {told}{complaint}")) }
}

/// Makes an environment that has the wheel and nothing else; its interpreter.
fn environment(folder: &Path, wheel: &Path) -> PathBuf {
    run(Command::new("python3").args(["-m", "venv"]).arg(folder)).unwrap();
    let python = folder.join("bin/python");
    let words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"];
    run(Command::new(&python).args(words).arg(wheel)).unwrap();
    python
}

/// Where an interpreter has its packages.
fn packages_of(python: &Path) -> Result<PathBuf, String> {
    let told =
        run(Command::new(python).args(["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]));
    told.map(|path| PathBuf::from(path.trim()))
}

fn tried() -> Option<&'static Tried> {
    static TRIED: OnceLock<Result<Tried, String>> = OnceLock::new();
    let tried = TRIED.get_or_init(|| {
        let recent = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))";
        run(Command::new("python3").args(["-c", recent]))
            .map_err(|_| "python3 from 3.11 on with venv is missing".to_owned())?;
        // Building the command builds the whole workspace, the module with it.
        let (module, folder) = (binary().with_file_name("lib_native.so"), tempfile::tempdir().unwrap());
        let mut wheel = Command::new("python3");
        wheel.arg(root().join("package/wheel.py")).arg(folder.path()).arg(module);
        let wheel = PathBuf::from(run(&mut wheel).unwrap().trim());
        let packages = run(Command::new(root().join("setup/notebook-tools.sh")).arg("python/tests"));
        let packages = packages.and_then(|interpreter| packages_of(Path::new(interpreter.trim())));
        let with_packages = packages.map(|packages| {
            let python = environment(&folder.path().join("with-packages"), &wheel);
            let beside = packages_of(&python).unwrap().join("packages.pth");
            std::fs::write(beside, packages.to_str().unwrap()).unwrap();
            python
        });
        Ok(Tried { folder, wheel, with_packages })
    });
    tried.as_ref().map_err(|reason| println!("skipped: {reason}")).ok()
}

/// Python with the wheel and the packages of the tests, in a folder that is no part of the sources.
fn with_packages() -> Option<Command> {
    let tried = tried()?;
    let python = tried.with_packages.as_ref().map_err(|reason| println!("skipped: {reason}")).ok()?;
    let mut command = Command::new(python);
    command
        .env("FAIRPLAN", binary())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env_remove("PYTHONPATH")
        .current_dir(tried.folder.path());
    Some(command)
}

fn passes(python: &mut Command) {
    if let Err(problem) = run(python) {
        panic!("{problem}");
    }
}

#[test]
fn the_wheel_works_where_nothing_else_is_installed() {
    let Some(tried) = tried() else { return };
    let python = environment(&tried.folder.path().join("bare"), &tried.wheel);
    let script = "\
import fairplan as fp
cluster = fp.generate.drfh_fig1()
solution = fp.solve(cluster)
assert fp.verify(cluster, solution).holds and abs(solution.value - 5 / 7) < 1e-9
def plain(task, free):
    rows = free.tolist()
    return next((s for s, row in enumerate(rows) if all(n <= r for n, r in zip(task.demand, row))), None)
assert fp.place(cluster, policy=plain).users['tasks'] == fp.place(cluster, policy='first-fit').users['tasks']
try:
    solution.to_pandas()
except ImportError:
    pass
else:
    raise AssertionError('pandas is here')
";
    passes(Command::new(&python).args(["-c", script]).env_clear().current_dir(tried.folder.path()));
    passes(Command::new(python.with_file_name("fairplan")).arg("--version").env_clear());
    passes(Command::new(&python).args(["-m", "fairplan", "--version"]).env_clear());
}

#[test]
#[ignore = "two minutes: builds the package"]
fn pythons_own_tests_pass() {
    let Some(mut python) = with_packages() else { return };
    let tests = root().join("python/tests");
    passes(python.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]).arg(tests));
}

#[test]
fn the_examples_of_docstrings_give_what_they_show() {
    let Some(mut python) = with_packages() else { return };
    let options = ["--doctest-modules", "-p", "no:cacheprovider", "--pyargs"];
    passes(python.args(["-m", "pytest", "-q"]).args(options).arg("fairplan"));
}

#[test]
fn the_types_are_complete_and_the_stubs_are_those_of_the_module() {
    let Some(mut python) = with_packages() else { return };
    passes(python.args(["-m", "mypy", "--strict", "--cache-dir=/dev/null", "-p", "fairplan"]));
    let Some(mut python) = with_packages() else { return };
    let allowed: &Path = &root().join("python/tests/stubtest-allowlist.txt");
    passes(python.args(["-m", "mypy.stubtest", "fairplan", "--allowlist"]).arg(allowed));
}

#[test]
fn the_page_of_the_guide_gives_what_it_shows() {
    let Some(mut python) = with_packages() else { return };
    let page = std::fs::read_to_string(root().join("guide/src/python.md")).unwrap();
    // Without the fences it is a text with examples, as Python's doctest reads it.
    let unfenced: Vec<&str> =
        page.lines().map(|line| if line.starts_with("```") { "" } else { line }).collect();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("python.txt"), unfenced.join("\n") + "\n").unwrap();
    let options = ["-m", "doctest", "-o", "ELLIPSIS", "-o", "NORMALIZE_WHITESPACE", "python.txt"];
    passes(python.args(options).current_dir(folder.path()));
}
