//! Scratch.
use fairplan_instances::{Objective, files};
fn main() {
    for path in std::env::args().skip(1) {
        let instance = files::read_instance(&path).unwrap();
        let s = fairplan_solver::backend("auto").unwrap().solve(&instance, Objective::Drfh).unwrap();
        println!(
            "{path} {:?} {:?}",
            s.status,
            s.levels.iter().map(|l| (l.value, 1.0 - l.value / l.bound)).collect::<Vec<_>>()
        );
    }
}
