//! The figures of the multi-resource fairness paper on stochastic demand (MRF Sec. 4.3 and 4.4): service rates against the
//! load of the heaviest resource. They were published as curves, so what is compared is what the text says of them.

use super::outcome::Curves;
use fairplan::instances::generate::{mrf_fig1, mrf_fig2};
use fairplan::instances::{Objective, Traffic, Violation};
use fairplan::report::figure::{Curve, Figure, Mark, Panel};
use fairplan::report::reproduction::{Exhibit, Interval, KnownReason, Reproduced, Standing};
use fairplan::{Control, Error, Level, MarkovSettings, PacketSettings, SimulationSettings};

const DRF: Objective = Objective::DrfPooled;
const PF: Objective = Objective::ProportionalFairness;
const BMF: Objective = Objective::BottleneckMaxFairness;

/// Loads of the lines, in hundredths.
const LOADS: [u32; 18] = [5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90];

/// Loads of the crosses, in hundredths.
const PACKET_LOADS: [u32; 4] = [20, 40, 60, 80];

/// Good to far less than can be seen in a figure.
const CHAINS: MarkovSettings = MarkovSettings { border_mass: 1e-6, memory: 4 << 30 };

/// The window is the paper's; flows are shorter than its 20000 packets and fewer than its 100000, so that all is done in
/// seconds.
const FLOWS: SimulationSettings = SimulationSettings { replications: 4, arrivals: 1600, seed: 1 };
const PACKETS: PacketSettings = PacketSettings { packets_per_flow: 2500.0, window: 30 };

/// How far packets may be from the fluid model that serves the same flows, in parts of a service rate.
const CLOSE: f64 = 0.03;

/// Why numbers of Fig. 1 differ.
pub(crate) const FIG_1: KnownReason = KnownReason {
    exhibit: "mrf-fig1",
    of: &[],
    standing: Standing::Refuted,
    why: "PF serves class 3, which needs both resources in full, more slowly than DRF at light and medium loads, and faster only from a \
     load of about 0.7 on. The paper's words hold for classes 1 and 2, and for BMF.",
};

type Generator = fn(f64) -> Result<Traffic, Violation>;

/// Service rates of all classes, by load.
struct Rates {
    loads: Vec<f64>,
    rates: Vec<Vec<f64>>,
}

impl Rates {
    fn new(generator: Generator, loads: &[u32], objective: Objective, level: Level) -> Result<Self, Error> {
        let loads: Vec<f64> = loads.iter().map(|load| f64::from(*load) / 100.0).collect();
        let rates = loads.iter().map(|load| {
            let outcome = level.outcome(&generator(*load)?, objective)?;
            Ok(outcome.classes.iter().map(|class| class.service_rate).collect())
        });
        Ok(Self { rates: rates.collect::<Result<_, Error>>()?, loads })
    }

    /// From the stationary distributions of the fluid model.
    fn fluid(generator: Generator, objective: Objective) -> Result<Self, Error> {
        Self::new(generator, &LOADS, objective, Level::Markov(CHAINS))
    }

    /// A curve for each class.
    fn curves(&self, kind: &str, mark: Mark) -> Vec<Curve> {
        let curve = |k: usize| Curve {
            kind: kind.to_owned(),
            subject: format!("class {}", k + 1),
            mark,
            points: self.loads.iter().zip(&self.rates).map(|(load, rates)| [*load, rates[k]]).collect(),
        };
        (0..self.rates[0].len()).map(curve).collect()
    }

    /// At how many loads something holds for the rates of the three classes.
    fn loads_where(&self, holds: impl Fn(&[f64]) -> bool) -> f64 {
        self.rates.iter().filter(|rates| holds(rates)).count() as f64
    }
}

/// At how many loads something holds for the rates under two objectives.
fn loads_where_both(a: &Rates, b: &Rates, holds: impl Fn(&[f64], &[f64]) -> bool) -> f64 {
    a.rates.iter().zip(&b.rates).filter(|(a, b)| holds(a, b)).count() as f64
}

fn figure(exhibit: Exhibit, title: &'static str, panels: Vec<Panel>) -> Figure {
    Figure {
        exhibit: exhibit.id.into(),
        title: title.into(),
        horizontal: "load of the heaviest resource".into(),
        names: Vec::new(),
        vertical: "service rate".into(),
        panels,
    }
}

/// A panel of two objectives.
fn versus((name, rates): (&str, &Rates), (other_name, other): (&str, &Rates)) -> Panel {
    let curves = [rates.curves(name, Mark::Line), other.curves(other_name, Mark::Dashes)].concat();
    Panel { title: format!("{name} and {other_name}"), curves }
}

fn all(rates: &Rates) -> f64 {
    rates.loads.len() as f64
}

/// Fig. 1: equal loads.
pub(crate) fn fig1(control: &Control<'_>) -> Result<Curves, Error> {
    const EXHIBIT: Exhibit =
        Exhibit { id: "mrf-fig1", source: "Multi-resource fairness paper, Fig. 1, Sec. 4.3" };
    /// What the classes that mirror each other may differ by, from the truncation of the chains.
    const ALIKE: f64 = 1e-4;
    let rates = |objective| Rates::fluid(mrf_fig1, objective);
    control.stage("chains");
    let (drf, pf, bmf) = (rates(DRF)?, rates(PF)?, rates(BMF)?);
    let order = EXHIBIT.says("for each allocation we have, γ1=γ2>γ3");
    let better = EXHIBIT
        .says("BMF is very close to PF while both are somewhat better than DRF, especially at high load");
    let everywhere = Interval::exactly(all(&drf));
    let mut numbers = Vec::new();
    for (name, rates) in [("drf", &drf), ("pf", &pf), ("bmf", &bmf)] {
        let apart = rates.rates.iter().map(|rates| (rates[0] - rates[1]).abs()).fold(0.0, f64::max);
        let quantity = format!("{name}: what classes 1 and 2 differ by, at most");
        numbers.push(order.words(quantity, Interval::at_most(ALIKE), apart));
        let quantity = format!("{name}: loads at which class 1 is served faster than class 3");
        numbers.push(order.words(quantity, everywhere, rates.loads_where(|rates| rates[0] > rates[2])));
    }
    for (name, rates) in [("pf", &pf), ("bmf", &bmf)] {
        for (class, also) in [(0, " (and class 2)"), (2, "")] {
            let faster = loads_where_both(rates, &drf, |rates, drf| rates[class] > drf[class]);
            let quantity =
                format!("{name}: loads at which class {}{also} is served faster than under drf", class + 1);
            numbers.push(better.words(quantity, everywhere, faster));
        }
    }
    let panels = vec![versus(("bmf", &bmf), ("drf", &drf)), versus(("bmf", &bmf), ("pf", &pf))];
    Ok((numbers, figure(EXHIBIT, "Service rates under balanced load", panels)))
}

/// Fig. 2: four times as much work of the first class as of the others.
pub(crate) fn fig2(control: &Control<'_>) -> Result<Curves, Error> {
    const EXHIBIT: Exhibit =
        Exhibit { id: "mrf-fig2", source: "Multi-resource fairness paper, Fig. 2, Sec. 4.3" };
    let rates = |objective| Rates::fluid(mrf_fig2, objective);
    control.stage("chains");
    let (drf, pf, bmf) = (rates(DRF)?, rates(PF)?, rates(BMF)?);
    let mut numbers = Vec::new();
    for (name, rates) in [("drf", &drf), ("pf", &pf), ("bmf", &bmf)] {
        numbers.push(ordered(EXHIBIT, name, rates));
    }
    for (name, rates) in [("pf", &pf), ("bmf", &bmf)] {
        let gain = EXHIBIT.says("a significant gain in γ2 … for negligible reductions in γ1 … and γ3");
        let gains = loads_where_both(rates, &drf, |rates, drf| {
            rates[1] - drf[1] > (drf[0] - rates[0]).max(drf[2] - rates[2]).max(0.0)
        });
        let quantity =
            format!("{name}: loads at which class 2 gains more over drf than any other class loses");
        numbers.push(gain.words(quantity, Interval::exactly(all(rates)), gains));
    }
    let panels = vec![versus(("bmf", &bmf), ("drf", &drf)), versus(("bmf", &bmf), ("pf", &pf))];
    Ok((numbers, figure(EXHIBIT, "Service rates under unbalanced load", panels)))
}

/// Fig. 3: packets under the load of Fig. 2.
pub(crate) fn fig3(control: &Control<'_>) -> Result<Curves, Error> {
    const EXHIBIT: Exhibit =
        Exhibit { id: "mrf-fig3", source: "Multi-resource fairness paper, Fig. 3, Sec. 4.4" };
    let (mut numbers, mut panels) = (Vec::new(), Vec::new());
    for (name, objective) in [("drf", DRF), ("pf", PF), ("bmf", BMF)] {
        control.stage("packets");
        let lines = Rates::fluid(mrf_fig2, objective)?;
        let crosses = Rates::new(mrf_fig2, &PACKET_LOADS, objective, Level::Packet(FLOWS, PACKETS))?;
        // The same flows, so that what differs is not chance.
        let fluid = Rates::new(mrf_fig2, &PACKET_LOADS, objective, Level::Flow(FLOWS))?;
        let pairs = crosses.rates.iter().flatten().zip(fluid.rates.iter().flatten());
        let apart = pairs.map(|(packets, fluid)| (packets / fluid - 1.0).abs()).fold(0.0, f64::max);
        let quantity =
            format!("{name}: largest part by which packets differ from the fluid model of the same flows");
        let close = EXHIBIT.says(
            "all three packet-based algorithms closely approximate the service rates of the ideal allocations",
        );
        numbers.push(close.words(quantity, Interval::at_most(CLOSE), apart));
        numbers.push(ordered(EXHIBIT, name, &crosses));
        let curves = [
            lines.curves(&format!("{name}, fluid"), Mark::Line),
            crosses.curves(&format!("{name}, packets"), Mark::Crosses),
        ];
        panels.push(Panel { title: name.into(), curves: curves.concat() });
    }
    Ok((numbers, figure(EXHIBIT, "Service rates of packets under unbalanced load", panels)))
}

/// At how many loads the classes are served in the published order.
fn ordered(exhibit: Exhibit, name: &str, rates: &Rates) -> Reproduced {
    let quantity =
        format!("{name}: loads at which class 2 is served faster than class 1, and that than class 3");
    let ordered = rates.loads_where(|rates| rates[1] > rates[0] && rates[0] > rates[2]);
    exhibit.says("γ2>γ1>γ3").words(quantity, Interval::exactly(all(rates)), ordered)
}
