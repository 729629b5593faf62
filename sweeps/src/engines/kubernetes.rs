//! An Indexed Job for Kubernetes.

use crate::Chunks;
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
