//! What tasks, servers and limits are worth: parts of all servers together in a program, whole numbers in a proof.

/// What a task of each shape, a server of each class and all of each limit is worth.
#[derive(Clone, Copy)]
pub(super) struct Worth<'a> {
    pub tasks: &'a [f64],
    pub servers: &'a [f64],
    pub limits: &'a [f64],
}

/// What all servers are worth in whole numbers: values of single patterns stay far below 2^53.
pub(super) const SCALE: f64 = (1u64 << 46) as f64;

/// Values as whole numbers.
pub(super) fn scaled(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| (value * SCALE).round()).collect()
}

/// The worth of limits as whole numbers, rounded up.
pub(super) fn scaled_up(limits: &[f64]) -> Vec<u64> {
    limits.iter().map(|worth| (worth * SCALE).ceil() as u64).collect()
}
