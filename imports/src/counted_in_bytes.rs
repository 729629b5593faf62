//! Amounts of what is counted in ones, such as GPUs, that are written as bytes are: `1Gi` of them is a billion, which nobody means.

use crate::report::ImportReport;
use fairplan_instances::ResourceKind;

/// Says of such an amount that it is read as its scheduler reads it.
pub(super) fn tell(resource: &str, text: &str, report: &mut ImportReport) {
    if text.trim_end().ends_with('i') && ResourceKind::of(resource) != ResourceKind::Amount {
        report.named(
            "amounts in units of bytes of what is counted in ones, read as the scheduler does (1Gi is 1,073,741,824)",
            &format!("{resource} {text}"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_of_gigabytes_of_gpus_is_told_and_one_of_memory_is_not() {
        for (resource, text, is_told) in [
            ("nvidia.com/gpu", "1Gi", true),
            ("cpu", "64Ki", true),
            ("memory", "1Gi", false),
            ("nvidia.com/gpumem", "1Gi", false),
            ("nvidia.com/gpu", "8", false),
            ("cpu", "3000m", false),
        ] {
            let mut report = ImportReport::default();
            tell(resource, text, &mut report);
            assert_eq!(report.counts().count() > 0, is_told, "{resource} {text}");
        }
    }
}
