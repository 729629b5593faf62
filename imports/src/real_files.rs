//! Real files that are not shipped: tests of importers read them where they are.

use std::path::{Path, PathBuf};

/// A real file, or a printed reason why there is none.
pub(super) fn real_file(path: &str) -> Option<String> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let file = std::env::var_os("FAIRPLAN_DATA").map_or(beside, PathBuf::from).join(path);
    if file.exists() {
        return file.to_str().map(str::to_owned);
    }
    println!("skipped: {} is not there; set FAIRPLAN_DATA to the folder that holds it", file.display());
    None
}
