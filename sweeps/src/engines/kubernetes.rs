//! An Indexed Job for Kubernetes.

use crate::{Chunks, SweepError};
use serde_json::{Value, json};

/// What the manifest asks for.
#[derive(Clone, Debug)]
pub struct KubernetesOptions {
    /// The name of the job.
    pub name: String,
    /// The image, which has the command `fairplan`.
    pub image: String,
    /// The claim of a volume that all pods can write: list of tasks, inputs and results lie there.
    pub claim: String,
    /// Where the volume is in the pods, which is also where they work.
    pub mount: String,
    /// The list of tasks, from there.
    pub tasks: String,
    /// The directory of results, from there.
    pub directory: String,
    /// How many tasks one pod runs.
    pub chunk: Chunks,
    /// How many chunks there are.
    pub chunks: u64,
    /// Pods at the same time, at most.
    pub parallelism: u64,
    /// How often a pod that dies is tried again.
    pub retries: u64,
    /// Processors of a pod.
    pub cpus: u64,
    /// Memory of a pod, as Kubernetes writes it.
    pub memory: Option<String>,
}

/// Indices of a job, at most: what Kubernetes allows where failures are counted by index.
const MOST_CHUNKS: u64 = 100_000;

/// Letters of the name of a job, at most: pods are labelled with it.
const LONGEST_NAME: usize = 63;

impl KubernetesOptions {
    /// Refuses what Kubernetes would refuse.
    ///
    /// # Errors
    /// Names the option and its value.
    pub fn check(&self) -> Result<(), SweepError> {
        let holds = |is_fine: bool, option: &str, value: &str, why: &str| match is_fine {
            true => Ok(()),
            false => Err(SweepError::refused(format!("--{option} {value:?}: {why}"))),
        };
        let is_image = !self.image.is_empty()
            && !self.image.contains(|letter: char| letter.is_whitespace() || letter.is_control());
        holds(is_image, "image", &self.image, "names no image; write it as registry.example/fairplan:1")?;
        let has_parts = |name: &str| name.split('.').all(is_label);
        holds(
            has_parts(&self.name) && self.name.len() <= LONGEST_NAME,
            "name",
            &self.name,
            "is no name of a job: at most 63 small letters, digits and dashes, a letter or digit at both ends",
        )?;
        holds(
            has_parts(&self.claim),
            "claim",
            &self.claim,
            "is no name of a claim: small letters, digits and dashes",
        )?;
        let is_path = self.mount.starts_with('/') && !self.mount.contains(':');
        holds(is_path, "mount", &self.mount, "must begin with / and have no colon")?;
        let memory = self.memory.as_deref().unwrap_or("1");
        holds(is_quantity(memory), "memory", memory, "is no amount of memory; write it as 4Gi")?;
        match self.chunks <= MOST_CHUNKS {
            true => Ok(()),
            false => Err(SweepError::refused(format!(
                "--chunk {}: makes {} jobs, and Kubernetes takes {MOST_CHUNKS}; state a larger one",
                self.chunk.0, self.chunks
            ))),
        }
    }
}

/// Whether it is a part of a name in Kubernetes (a label of RFC 1123).
fn is_label(part: &str) -> bool {
    let is_inner = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'-';
    !part.is_empty()
        && part.len() <= LONGEST_NAME
        && part.bytes().all(is_inner)
        && !part.starts_with('-')
        && !part.ends_with('-')
}

/// Whether it is an amount above zero as Kubernetes writes them: digits, perhaps a point, and a unit.
fn is_quantity(text: &str) -> bool {
    let unit = text.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let number = &text[..text.len() - unit.len()];
    let units = ["", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    units.contains(&unit) && number.parse::<f64>().is_ok_and(|number| number > 0.0)
}

/// The manifest. An index whose pod dies is tried again by itself (`backoffLimitPerIndex`), and one that keeps dying does not end the
/// others. Kubernetes puts the index of the pod for `$(JOB_COMPLETION_INDEX)`, so that no shell is needed.
pub fn kubernetes_job(options: &KubernetesOptions) -> Value {
    let KubernetesOptions { name, image, claim, mount, tasks, directory, .. } = options;
    let (Chunks(chunk), cpus) = (options.chunk, options.cpus.to_string());
    let mut resources = json!({"cpu": cpus});
    if let (Some(memory), Some(resources)) = (&options.memory, resources.as_object_mut()) {
        resources.insert("memory".into(), memory.as_str().into());
    }
    let command = [
        "fairplan",
        "sweep",
        "run",
        tasks,
        "--chunk",
        &chunk.to_string(),
        "--index",
        "$(JOB_COMPLETION_INDEX)",
        "--threads",
        &cpus,
        "--quiet",
        "-o",
        directory,
    ]
    .map(str::to_owned);
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {
            "completionMode": "Indexed",
            "completions": options.chunks,
            "parallelism": options.parallelism.min(options.chunks),
            "backoffLimitPerIndex": options.retries,
            "maxFailedIndexes": options.chunks,
            "template": {
                "spec": {
                    "restartPolicy": "Never",
                    "containers": [{
                        "name": "fairplan",
                        "image": image,
                        "command": command,
                        "workingDir": mount,
                        "resources": {"requests": resources, "limits": resources},
                        "volumeMounts": [{"name": "sweep", "mountPath": mount}],
                    }],
                    "volumes": [{"name": "sweep", "persistentVolumeClaim": {"claimName": claim}}],
                },
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> KubernetesOptions {
        KubernetesOptions {
            name: "fairplan-sweep".into(),
            image: "registry.example/fairplan:1".into(),
            claim: "studies".into(),
            mount: "/sweep".into(),
            tasks: "sweep.jsonl".into(),
            directory: "results".into(),
            chunk: Chunks(100),
            chunks: 7,
            parallelism: 100,
            retries: 3,
            cpus: 2,
            memory: Some("1.5Gi".into()),
        }
    }

    #[test]
    fn what_kubernetes_would_refuse_is_refused_by_name() {
        options().check().unwrap();
        let name = "n".repeat(64);
        for (wrong, told) in [
            (KubernetesOptions { image: String::new(), ..options() }, "--image \"\": names no image"),
            (KubernetesOptions { image: "a b".into(), ..options() }, "--image"),
            (KubernetesOptions { name: "My_Job".into(), ..options() }, "--name \"My_Job\""),
            (KubernetesOptions { name, ..options() }, "at most 63"),
            (KubernetesOptions { claim: "-c".into(), ..options() }, "--claim \"-c\""),
            (KubernetesOptions { mount: "sweep".into(), ..options() }, "--mount \"sweep\""),
            (KubernetesOptions { memory: Some("4 GB".into()), ..options() }, "--memory \"4 GB\""),
            (KubernetesOptions { memory: Some("0".into()), ..options() }, "--memory"),
            (KubernetesOptions { chunks: 100_001, ..options() }, "--chunk 100: makes 100001 jobs"),
        ] {
            let refused = wrong.check().unwrap_err().to_string();
            assert!(refused.contains(told), "{refused}");
        }
    }
}
