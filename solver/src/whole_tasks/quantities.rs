//! Amounts of all resources as one array.

/// Resources are counted in arrays of this length.
pub(super) const WIDTH: usize = 8;

/// One number a resource, the rest 0.
pub(super) type Quantities = [u64; WIDTH];
