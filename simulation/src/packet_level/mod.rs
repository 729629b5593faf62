//! Flows of packets that pass through resources in series, each of which serves them one by one, by start-time fair
//! queueing (MRF Sec. 3): what routers can do to share as the fluid model does.

mod classes;
mod router;

use crate::SimulationError;
use crate::arrivals::Arrivals;
use crate::replications::{Census, SimulationSettings, replicate};
use crate::variates::pieces;
use classes::PacketClass;
use fairplan_instances::{Objective, Random, Traffic, TrafficOutcome, Violation};
use router::{Queueing, Router};

/// Settings of [`packet_level`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacketSettings {
    /// Mean packets of a flow; their number is geometric when the work is exponential.
    pub packets_per_flow: f64,
    /// Packets of a flow that are under way at once, while it has so many (MRF's W).
    pub window: u32,
}

impl Default for PacketSettings {
    fn default() -> Self {
        Self { packets_per_flow: 4000.0, window: 30 }
    }
}

const MOST_PACKETS: f64 = 1e9;
const LARGEST_WINDOW: u32 = 10_000;

/// Simulates flows whose packets are queued such that they share by `objective`: `drf`, `pf` or `bmf`.
///
/// # Errors
/// Traffic that is not stable, settings that mean nothing, an objective that the packets of this traffic cannot share by.
pub fn packet_level(
    traffic: &Traffic,
    objective: Objective,
    settings: SimulationSettings,
    packets: PacketSettings,
) -> Result<TrafficOutcome, SimulationError> {
    let queueing = queueing(traffic, objective)?;
    let PacketSettings { packets_per_flow, window } = packets;
    if !(1.0..=MOST_PACKETS).contains(&packets_per_flow) {
        let problem = format!("must be at least 1 and at most {MOST_PACKETS}");
        return Err(Violation::new("packets_per_flow", packets_per_flow, problem).into());
    }
    if !(1..=LARGEST_WINDOW).contains(&window) {
        let problem = format!("must be at least 1 and at most {LARGEST_WINDOW}");
        return Err(Violation::new("window", window, problem).into());
    }
    replicate(traffic, settings, |random| Ok(run(traffic, queueing, settings, packets, random)))
}

fn queueing(traffic: &Traffic, objective: Objective) -> Result<Queueing, Violation> {
    let queueing = match objective {
        Objective::DrfPooled => Queueing::Dominant,
        Objective::ProportionalFairness => Queueing::Proportional,
        Objective::BottleneckMaxFairness => Queueing::BottleneckMax,
        other => return Err(Violation::new("objective", other, "packets share by drf, pf or bmf")),
    };
    for (k, class) in traffic.classes().iter().enumerate() {
        if class.propagation_time > 0.0 && queueing != Queueing::BottleneckMax {
            let problem =
                format!("{objective} needs queues that packets reach at once (MRF Sec. 4.4); use bmf");
            return Err(Violation::new(
                format!("classes[{k}].propagation_time"),
                class.propagation_time,
                problem,
            ));
        }
        if class.packet_demands.len() > 1 && queueing == Queueing::Dominant {
            let problem = "memoryless drf is for flows whose packets are alike (MRF eq. 2); use pf or bmf";
            return Err(Violation::new(
                format!("classes[{k}].packet_demands"),
                class.packet_demands.len(),
                problem,
            ));
        }
    }
    Ok(queueing)
}

fn run(
    traffic: &Traffic,
    queueing: Queueing,
    settings: SimulationSettings,
    packets: PacketSettings,
    random: Random,
) -> Vec<f64> {
    let classes = traffic.classes();
    let mean = packets.packets_per_flow;
    let of_packets = (0..classes.len()).map(|k| PacketClass::new(traffic, k, mean)).collect();
    let mut router = Router::new(of_packets, traffic.resources().len(), queueing, packets.window);
    let mut arrivals = Arrivals::new(traffic, random);
    let mut census = Census::new(classes.len(), settings);
    while !census.is_complete() {
        let (time, event) = router.next();
        if time <= arrivals.next {
            if let Some(class) = router.advance(time, event) {
                census.leave(class, time);
            }
        } else {
            let (now, class) = (arrivals.next, arrivals.class());
            census.arrive(class, now);
            router.begin_flow(class, pieces(classes[class].work, mean, &mut arrivals.random), now);
            arrivals.schedule();
        }
    }
    census.means()
}

#[cfg(test)]
mod tests;
