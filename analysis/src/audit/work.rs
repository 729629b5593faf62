//! Work that users do, told and compared.

/// An amount of work in words for people: nine digits at most.
pub(super) fn amount(work: f64) -> String {
    format!("{work:.8e}").parse::<f64>().map_or_else(|_| work.to_string(), |work| work.to_string())
}

/// By which part of the larger one `less` is below `more`; 0 where it is not.
pub(super) fn shortfall(less: f64, more: f64) -> f64 {
    if less >= more { 0.0 } else { 1.0 - less / more }
}
