//! The stochastic demand of the multi-resource fairness paper (Bonald, Roberts, "Multi-resource fairness: Objectives,
//! algorithms and performance", Sec. 4.3).

use crate::{Traffic, TrafficClass, Violation};

/// Two resources and three classes whose arrivals are alike (MRF Fig. 1), at a load of the heaviest resource.
pub fn mrf_fig1(load: f64) -> Result<Traffic, Violation> {
    classes("MRF paper, Fig. 1", [1.0, 1.0, 1.0], load)
}

/// The same classes, four times as many arrivals of the first as of the others (MRF Fig. 2 and 3).
pub fn mrf_fig2(load: f64) -> Result<Traffic, Violation> {
    classes("MRF paper, Fig. 2", [4.0, 1.0, 1.0], load)
}

fn classes(name: &str, arrivals: [f64; 3], load: f64) -> Result<Traffic, Violation> {
    const DEMANDS: [[f64; 2]; 3] = [[0.1, 1.0], [1.0, 0.1], [1.0, 1.0]];
    if !(load > 0.0 && load < 1.0) {
        return Err(Violation::new("load", load, "must be > 0 and < 1"));
    }
    let class = |(k, (demand, rate)): (usize, ([f64; 2], f64))| {
        TrafficClass::new(&format!("class-{}", k + 1), demand.into(), rate)
    };
    let classes = DEMANDS.into_iter().zip(arrivals).enumerate().map(class).collect();
    let resources = vec!["resource-1".into(), "resource-2".into()];
    Ok(Traffic::new(name, resources, vec![1.0; 2], classes)?.at_load(load))
}
