//! `setup/build-tools.sh` on machines that lack something: it finds another way, or says in one line what to do.
//!
//! A machine is a folder with a copy of the script and a PATH of few commands, some of them made up.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A machine with a C compiler and cargo, and the folder of a libclang.
struct Machine {
    folder: tempfile::TempDir,
}

/// What the script takes for granted.
const ALWAYS: [&str; 13] =
    ["bash", "cat", "chmod", "dirname", "grep", "head", "id", "ls", "mkdir", "mv", "rm", "sed", "sh"];

/// A python3 whose pip installs what is asked for, as far as the script looks.
const PYTHON: &str = r#"#!/bin/sh
case "$*" in
*"pip --version") echo "pip 1" ;;
*"pip install"*)
    while [ "$1" != --target ]; do shift; done
    target=$2
    case "$*" in *highsbox*) mkdir -p "$target/highsbox/highs_dist/lib" && : >"$target/highsbox/highs_dist/lib/libhighs.so" ;; esac
    case "$*" in *libclang*) mkdir -p "$target/clang/native" && : >"$target/clang/native/libclang.so" ;; esac
    case "$*" in *cmake*) mkdir -p "$target/cmake/data/bin" && : >"$target/cmake/data/bin/cmake" ;; esac ;;
esac
"#;

/// One whose pip reaches nothing.
const OFFLINE: &str =
    "#!/bin/sh\ncase \"$*\" in *\"pip --version\") exit 0 ;; esac\necho 'no network' >&2; exit 1\n";

impl Machine {
    fn new() -> Self {
        let machine = Self { folder: tempfile::tempdir().unwrap() };
        for folder in ["bin", "setup", "clang"] {
            std::fs::create_dir(machine.path(folder)).unwrap();
        }
        let root = crate::command_line::root();
        for file in ["setup/build-tools.sh", "Cargo.lock"] {
            std::fs::copy(root.join(file), machine.path(file)).unwrap();
        }
        for name in ALWAYS {
            let path = std::env::var_os("PATH").unwrap();
            let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|at| at.is_file());
            symlink(found.unwrap(), machine.path("bin").join(name)).unwrap();
        }
        std::fs::write(machine.path("clang/libclang.so"), "").unwrap();
        machine.with("cargo", "#!/bin/sh\n").with("cc", "#!/bin/sh\necho /nowhere\n")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The same with this command.
    fn with(self, name: &str, script: &str) -> Self {
        let file = self.path("bin").join(name);
        // A link to the system's own would be followed.
        assert!(!file.exists(), "{name} is there already");
        std::fs::write(&file, script).unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
        self
    }

    fn without(self, name: &str) -> Self {
        std::fs::remove_file(self.path("bin").join(name)).unwrap();
        self
    }

    fn set_up(&self, words: &[&str]) -> Output {
        Command::new(self.path("bin/bash"))
            .arg(self.path("setup/build-tools.sh"))
            .args(words)
            .env_clear()
            .env("PATH", self.path("bin"))
            .env("LIBCLANG_PATH", self.path("clang"))
            .output()
            .unwrap()
    }

    /// What cargo is told beside, the last line that is said, and what is written for cargo.
    fn decision(&self) -> (String, String, String) {
        let output = self.set_up(&[]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        let told = String::from_utf8(output.stdout).unwrap();
        let written = std::fs::read_to_string(self.path(".cargo/config.toml")).unwrap();
        (told.trim().to_owned(), said.lines().last().unwrap_or_default().to_owned(), written)
    }

    /// What is said where there is no way: one line for the reason, and maybe what to install.
    fn refusal(&self, words: &[&str]) -> String {
        let output = self.set_up(words);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    }
}

/// The version of HiGHS, without its last number, that the crates of Cargo.lock call.
fn accepted() -> String {
    let lock = std::fs::read_to_string(Path::new(crate::command_line::root()).join("Cargo.lock")).unwrap();
    let (_, after) = lock.split_once("name = \"highs-sys\"\nversion = \"").unwrap();
    let version = after.split('"').next().unwrap();
    version.rsplit_once('.').unwrap().0.to_owned()
}

fn pkg_config(version: &str) -> String {
    format!("#!/bin/sh\ncase $1 in --modversion) echo {version} ;; *) echo /opt/highs/lib ;; esac\n")
}

#[test]
fn the_wheel_serves_without_cmake_pkg_config_and_a_compiler_of_cxx() {
    let machine = Machine::new().with("python3", PYTHON);
    let (told, said, written) = machine.decision();
    assert_eq!(told, "");
    assert!(said.starts_with("setup: HiGHS ") && said.contains("PyPI wheel"), "{said}");
    assert!(written.contains("PKG_CONFIG = ") && written.contains("-rpath,"), "{written}");
    let answer =
        Command::new(machine.path(".tools/highs/pkg-config")).arg("--modversion").arg("highs").output();
    assert!(String::from_utf8(answer.unwrap().stdout).unwrap().starts_with(&accepted()));
    // The second time nothing is left to say.
    assert_eq!(machine.decision().1, "");
}

#[test]
fn the_systems_highs_is_taken_where_its_version_is_the_right_one() {
    let version = format!("{}.7", accepted());
    let (told, said, written) = Machine::new().with("pkg-config", &pkg_config(&version)).decision();
    assert_eq!((told.as_str(), said), ("", format!("setup: HiGHS {version} of the system")));
    assert!(written.contains("-rpath,/opt/highs/lib") && !written.contains("PKG_CONFIG"), "{written}");
}

#[test]
fn a_highs_of_another_version_is_named_and_not_taken() {
    let machine = Machine::new().with("pkg-config", &pkg_config("1.5.3")).with("python3", PYTHON);
    let output = machine.set_up(&[]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("the system's HiGHS 1.5.3 is not used; fairplan needs "), "{said}");
    assert!(said.lines().last().unwrap().contains("PyPI wheel"), "{said}");
}

#[test]
fn without_a_network_highs_is_built_from_source_where_it_can_be() {
    let compiler = "#!/bin/sh\n";
    let (told, said, written) =
        Machine::new().with("python3", OFFLINE).with("c++", compiler).with("cmake", compiler).decision();
    assert_eq!(told, "");
    assert!(said.contains("from source"), "{said}");
    assert!(written.contains("HIGHS_NO_PKG_CONFIG = \"1\"") && !written.contains("rpath"), "{written}");
}

#[test]
fn without_any_way_to_highs_the_build_does_without_and_one_line_says_so() {
    for machine in [Machine::new(), Machine::new().with("python3", OFFLINE)] {
        let (told, said, _) = machine.decision();
        assert_eq!(told, "--no-default-features");
        assert!(said.starts_with("setup: without HiGHS: "), "{said}");
    }
}

#[test]
fn what_nothing_can_replace_is_asked_for() {
    let no_cargo = Machine::new().without("cargo").refusal(&[]);
    assert!(no_cargo.starts_with("setup: cargo is missing; install Rust") && no_cargo.lines().count() == 1);
    let no_compiler = Machine::new().without("cc").refusal(&[]);
    assert!(no_compiler.starts_with("setup: no C compiler") && no_compiler.lines().count() == 1);
    let no_cxx = Machine::new().refusal(&["source"]);
    assert!(no_cxx.starts_with("setup: no C++ compiler") && no_cxx.lines().count() == 1, "{no_cxx}");
    let no_wheel = Machine::new().with("python3", OFFLINE).refusal(&["wheel"]);
    assert!(no_wheel.contains("is there a network"), "{no_wheel}");
}

#[test]
fn settings_of_somebody_else_are_left_alone_and_the_lines_are_told() {
    let machine = Machine::new().with("python3", PYTHON);
    std::fs::create_dir(machine.path(".cargo")).unwrap();
    std::fs::write(machine.path(".cargo/config.toml"), "[net]\n").unwrap();
    let refusal = machine.refusal(&[]);
    assert!(refusal.contains("is not ours; add these lines to it") && refusal.contains("rpath"), "{refusal}");
    assert_eq!(std::fs::read_to_string(machine.path(".cargo/config.toml")).unwrap(), "[net]\n");
}
