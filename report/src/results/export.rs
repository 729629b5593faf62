//! A solution as a scheduler is told, for people.

use crate::page::{Section, sizes, sizes_side_by_side};
use crate::summary::grid::{listed as tabled, paragraph};
use crate::tolerance::SAME;
use crate::units::{Rounded, counted, percent, share};
use fairplan_exports::{ExportBody, ExportedTenant};
use fairplan_instances::table::Tabular;

/// Who gets how much of the answer for sure.
pub(super) fn answer(document: &ExportBody) -> String {
    let leaves: Vec<(&ExportedTenant, f64)> =
        document.tenants.iter().filter_map(|tenant| Some((tenant, tenant.kept?))).collect();
    let told = counted(leaves.len() as u64, "tenant", "tenants");
    match leaves.iter().min_by(|a, b| a.1.total_cmp(&b.1)) {
        Some((_, kept)) if *kept >= 1.0 - SAME => {
            format!("{told}: the configuration for {} makes sure of the whole answer.", document.target)
        }
        Some((least, kept)) => format!(
            "{told}: the configuration for {} makes sure of at least {} of each one's answer ({}).",
            document.target,
            Rounded::Down.percent(*kept),
            crate::names::cut(&least.id, 40)
        ),
        None => format!("The configuration for {} has no tenant.", document.target),
    }
}

/// The summary of an export: its tenants, and what the target cannot be told.
pub fn summary(document: &ExportBody) -> String {
    let mut text = paragraph(&answer(document));
    text.push('\n');
    text += &tabled(&document.table(), "tenants");
    for note in &document.notes {
        text.push('\n');
        text += &paragraph(&format!("Note: {note}."));
    }
    text
}

/// An export as a section.
pub(crate) fn section(document: ExportBody) -> Section {
    let leaves = || document.tenants.iter().filter(|tenant| tenant.kept.is_some());
    let beside: Vec<_> = leaves()
        .filter_map(|tenant| Some((tenant.id.clone(), vec![tenant.share, tenant.entitled?])))
        .collect();
    let kept: Vec<_> = leaves().filter_map(|tenant| Some((tenant.id.clone(), tenant.kept?))).collect();
    let mut section = Section::new("The solution as a scheduler is told").answer(answer(&document));
    if !kept.is_empty() {
        section = section.block(sizes(
            "Of each tenant's answer, what the configuration makes sure of",
            kept,
            percent,
        ));
    }
    if !beside.is_empty() {
        let rule = format!("by the rule of {}", document.target);
        let caption = "Largest part of a resource by tenant, when all ask for more";
        section = section.block(sizes_side_by_side(caption, &["by the answer", &rule], beside, share));
    }
    section.grid("Tenants", &document.table())
}
