//! Defects of files, one at a time: a piece of a shipped file is exchanged, and the message says where.

/// A shipped file, what is exchanged in it for what, and what the message must contain beside the file's name.
pub type Defect = (&'static str, &'static str, &'static str, &'static str);

/// Tries each defect: `shipped` says where a file is, `refusal` what reading says with the damaged one, given its name and
/// where it is, in its place.
pub fn each_is_named(
    shipped: impl Fn(&str) -> String,
    defects: &[Defect],
    refusal: impl Fn(&str, String) -> String,
) {
    let folder = tempfile::tempdir().unwrap();
    for (file, from, to, told) in defects {
        let text = std::fs::read_to_string(shipped(file)).unwrap();
        assert!(text.contains(from), "{from}");
        let path = folder.path().join(file).to_str().unwrap().to_owned();
        std::fs::write(&path, text.replace(from, to)).unwrap();
        let refused = refusal(file, path);
        assert!(refused.contains(file) && refused.contains(told), "{to}: {refused}");
    }
}
