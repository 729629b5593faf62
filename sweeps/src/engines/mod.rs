//! What engines that run job arrays are given. They all run the same: `sweep run` with one index.

mod kubernetes;
mod slurm;

pub use kubernetes::{KubernetesOptions, kubernetes_job};
pub use slurm::{SlurmOptions, slurm_script};

/// A word as a shell takes it literally.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+=:,@%".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
