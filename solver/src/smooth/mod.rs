//! Objectives that are a sum over the users: proportional fairness, alpha-fairness, utilitarian.

mod block;
mod elimination;
mod interior_point;
mod problem;
mod schur;
