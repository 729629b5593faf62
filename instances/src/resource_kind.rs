//! What a resource is counted in, as its name tells: whole devices, cores, or amounts such as memory.

/// What one unit of a resource is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ResourceKind {
    /// A whole GPU: `nvidia.com/gpu`, `gres/gpu:a100`, `gpu`.
    Gpu,
    /// Another thing with a domain before its name, as Kubernetes and Slurm count whole devices: `google.com/tpu`, `gres/shard`.
    Device,
    /// A core.
    Cores,
    /// Something else that is counted in ones.
    Other,
    /// A part of something that has many: bytes of memory, of a GPU's memory too (`gpu.memory`), or percent of its cores
    /// (`nvidia.com/gpucores`).
    Amount,
}

impl ResourceKind {
    /// Of the resource of this name.
    pub fn of(name: &str) -> Self {
        let lower = name.to_ascii_lowercase();
        let (domain, own) = match lower.rsplit_once('/') {
            Some((_, own)) => (true, own),
            None => (false, lower.as_str()),
        };
        // Slurm names the model of a GPU after a colon.
        let thing = own.split(':').next().unwrap_or_default();
        let is_of_device = ["gpu", "cuda", "npu"].iter().any(|device| thing.contains(device));
        let is_part = ["core", "milli", "percent", "ratio"].iter().any(|part| thing.contains(part));
        match thing {
            "cpu" | "cpus" | "core" | "cores" | "vcore" | "vcores" if !domain => Self::Cores,
            _ if ["mem", "storage", "hugepages"].iter().any(|amount| thing.contains(amount)) => Self::Amount,
            _ if is_of_device && is_part => Self::Amount,
            _ if thing.ends_with("gpu") || thing.ends_with("gpus") => Self::Gpu,
            _ if domain => Self::Device,
            _ => Self::Other,
        }
    }
}

/// Whether a resource of this name is memory.
pub fn is_memory(name: &str) -> bool {
    name.eq_ignore_ascii_case("memory") || name.eq_ignore_ascii_case("mem")
}

#[cfg(test)]
mod tests {
    use super::ResourceKind::{self, Amount, Cores, Device, Gpu, Other};

    #[test]
    fn only_whole_gpus_are_gpus_and_their_memory_and_cores_are_amounts() {
        for (kind, names) in [
            (
                Gpu,
                &[
                    "nvidia.com/gpu",
                    "amd.com/gpu",
                    "gres/gpu",
                    "gres/gpu:a100",
                    "gpu",
                    "GPUs",
                    "volcano.sh/vgpu",
                ][..],
            ),
            (Device, &["google.com/tpu", "aws.amazon.com/neuroncore", "nvidia.com/mig-1g.5gb", "gres/shard"]),
            (Cores, &["cpu", "vcores"]),
            (Other, &["pods", "billing"]),
            (
                Amount,
                &[
                    "memory",
                    "mem",
                    "ephemeral-storage",
                    "hugepages-2Mi",
                    "gpu.memory",
                    "nvidia.com/gpumem",
                    "nvidia.com/gpucores",
                    "volcano.sh/gpu-memory",
                    "koordinator.sh/gpu-memory-ratio",
                    "koordinator.sh/gpu-core",
                    "alibabacloud.com/gpu-milli",
                    "tencent.com/vcuda-core",
                    "gres/gpumem",
                ],
            ),
        ] {
            names.iter().for_each(|name| assert_eq!(ResourceKind::of(name), kind, "{name}"));
        }
    }
}
