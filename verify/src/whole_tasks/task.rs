//! A task as the search for what a server can hold counts it.

/// One kind of task.
#[derive(Clone)]
pub(super) struct Task {
    /// What it is claimed to be worth, above 0.
    pub value: u64,
    /// What it takes of each resource; more than nothing of one.
    pub demand: Vec<u128>,
    /// So many of it are on a server at most.
    pub most: Option<u64>,
    /// Of which resource's devices it has a part by a profile, and which.
    pub profile: Option<(usize, usize)>,
}
