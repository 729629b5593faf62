//! GPUs that pods ask for in annotations: as Alibaba's scheduler shares them, thousandths of a GPU and the models allowed, and as KAI
//! does, a part of a GPU or of its memory.
//!
//! Source: the pods that `pod_csv_to_yaml.py` of Alibaba's cluster-trace-gpu-v2023 writes; the documentation of KAI, "GPU Sharing".

use crate::manifests::{Manifest, Metadata};
use crate::report::ImportReport;
use fairplan_instances::InstanceError;
use fairplan_instances::quantity::Quantity;

/// The resource of nodes: thousandths of their GPUs. In pods an annotation: thousandths of each GPU.
pub(super) const MILLI: &str = "alibabacloud.com/gpu-milli";

/// How many GPUs, an annotation of pods.
const COUNT: &str = "alibabacloud.com/gpu-count";

/// Annotations by which pods ask for a part of a GPU's memory. How much a GPU has no node says, so they are not read.
const MEMORY: [&str; 2] = ["alibabacloud.com/gpu-mem", "aliyun.com/gpu-mem"];

/// Annotations of KAI: a part of a GPU, or MiB of its memory; and of how many GPUs, if not of one.
const FRACTION: &str = "gpu-fraction";
const MIB: &str = "gpu-memory";
const SEVERAL: &str = "gpu-fraction-num-devices";

/// The label of nodes with the model of their GPUs; the annotation of pods with those they allow: `V100M16|V100M32`.
pub(super) const MODEL: &str = "alibabacloud.com/gpu-card-model";

/// What annotations say of the GPUs of a pod.
pub(super) enum SharedGpus {
    /// Thousandths of GPUs in all, of any of these models; of any where none is named.
    Milli(Quantity, Vec<String>),
    /// A part of a GPU.
    Part(Quantity),
    /// MiB of a GPU's memory.
    Mib(Quantity),
}

/// The GPUs that the annotations of a pod state, if they state any.
pub(super) fn read(
    manifest: &Manifest,
    metadata: &Metadata,
    report: &mut ImportReport,
) -> Result<Option<SharedGpus>, InstanceError> {
    for key in MEMORY.iter().filter(|key| metadata.annotations.contains_key(**key)) {
        report
            .one(format!("pods ask for a part of a GPU's memory in the annotation {key}, which is not read"));
    }
    let amount = |key: &str| {
        let Some(text) = metadata.annotations.get(key) else { return Ok(None) };
        let refused = |problem| manifest.refused(&format!("metadata.annotations.{key}"), text, problem);
        Quantity::parse(text).map_err(refused).map(Some)
    };
    let (part, mib) = (amount(FRACTION)?, amount(MIB)?);
    if part.is_some() || mib.is_some() {
        if metadata.annotations.get(SEVERAL).is_some_and(|count| count.trim() != "1") {
            report.one(format!(
                "pods ask for parts of several GPUs in annotations ({SEVERAL}), which are not read"
            ));
            return Ok(None);
        }
        return Ok(part.map(SharedGpus::Part).or(mib.map(SharedGpus::Mib)));
    }
    let (milli, count) = (amount(MILLI)?, amount(COUNT)?);
    if milli.is_none() && count.is_none() {
        return Ok(None);
    }
    let each = milli.unwrap_or(Quantity::thousand());
    let models = metadata.annotations.get(MODEL).map(String::as_str).unwrap_or_default();
    let models = models.split('|').map(str::trim).filter(|model| !model.is_empty()).map(str::to_owned);
    Ok(Some(SharedGpus::Milli(each.times(count.unwrap_or(Quantity::ONE)), models.collect())))
}
