//! A linear program with bounds on rows and columns, by the primal simplex method; columns may be added to a solved one, which goes on
//! from where it was.
//!
//! G. B. Dantzig, Linear Programming and Extensions, Princeton 1963; prices of edges by P. M. J. Harris (Pivot selection methods
//! of the Devex LP code, Mathematical Programming 5, 1973). Where columns cannot move because many bounds meet in a point, the bounds of
//! who stands there are moved apart a little, and back at the end.

mod basis;
mod branching;
mod columns;
mod factor;
mod pricing;
mod step;
#[cfg(test)]
mod tests;

pub(crate) use basis::Simplex;
pub(crate) use branching::solve_whole;
