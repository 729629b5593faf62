//! Stochastic demand: Markov chains and simulations against numbers computed apart from this project, against each
//! other, and against queues that have a formula.

use crate::solving::close;
use fairplan_instances::{Objective, Traffic, TrafficClass, TrafficOutcome};
use fairplan_simulation::{
    MarkovSettings, PacketSettings, SimulationSettings, TaskLevelSettings, flow_level, markov, packet_level,
    task_level,
};
use fairplan_solver::{SHARED, sharing_rule};

const DRF: Objective = Objective::DrfPooled;
const PF: Objective = Objective::ProportionalFairness;
const BMF: Objective = Objective::BottleneckMaxFairness;

fn named(resources: usize, classes: &[(&[f64], f64)]) -> Traffic {
    let classes = classes.iter().enumerate();
    let classes =
        classes.map(|(k, (demand, rate))| TrafficClass::new(&format!("class-{k}"), demand.to_vec(), *rate));
    let names = (0..resources).map(|r| format!("resource-{r}")).collect();
    Traffic::new("", names, vec![1.0; resources], classes.collect()).unwrap()
}

/// The classes of MRF Sec. 4.3, their arrivals in these proportions.
fn mrf(load: f64, arrivals: [f64; 3]) -> Traffic {
    let demands: [&[f64]; 3] = [&[0.1, 1.0], &[1.0, 0.1], &[1.0, 1.0]];
    let classes: Vec<(&[f64], f64)> = demands.into_iter().zip(arrivals).collect();
    named(2, &classes).at_load(load)
}

fn chain(traffic: &Traffic, objective: Objective, border_mass: f64) -> TrafficOutcome {
    let rule = sharing_rule(traffic, objective).unwrap();
    markov(traffic, &*rule, MarkovSettings { border_mass, ..MarkovSettings::default() }).unwrap()
}

fn service_rates(outcome: &TrafficOutcome) -> Vec<f64> {
    outcome.classes.iter().map(|class| class.service_rate).collect()
}

#[test]
fn service_rates_are_those_computed_apart() {
    let (equal, unequal) = ([1.0; 3], [4.0, 1.0, 1.0]);
    for (load, arrivals, objective, known) in [
        (0.5, equal, DRF, [0.451568, 0.451568, 0.398216]),
        (0.5, equal, PF, [0.499870, 0.499870, 0.390091]),
        (0.5, equal, BMF, [0.487323, 0.487323, 0.403776]),
        (0.7, unequal, DRF, [0.296762, 0.375177, 0.288844]),
        (0.7, unequal, PF, [0.299520, 0.672461, 0.283884]),
        (0.7, unequal, BMF, [0.298236, 0.657231, 0.290514]),
    ] {
        let outcome = chain(&mrf(load, arrivals), objective, 1e-9);
        for (class, known) in outcome.classes.iter().zip(known) {
            assert!((class.service_rate - known).abs() < 2e-6, "{objective} at {load}: {outcome:?}");
        }
    }
}

#[test]
fn one_resource_is_a_processor_sharing_queue() {
    // Whatever the objective and the number of classes: every class is served at the rate 1 - load.
    for classes in [&[(&[1.0][..], 0.8)][..], &[(&[1.0], 0.1), (&[1.0], 0.4), (&[1.0], 0.2)]] {
        let traffic = named(1, classes);
        let left = 1.0 - traffic.heaviest().1;
        for objective in [DRF, PF, BMF] {
            let outcome = chain(&traffic, objective, 1e-9);
            for class in &outcome.classes {
                let error = (class.service_rate - left).abs();
                assert!(error < 1e-6 * left, "{objective}: {outcome:?}");
                assert!(error <= class.service_rate_error, "the error is larger than it says: {outcome:?}");
            }
        }
    }
}

#[test]
fn classes_that_share_no_resource_are_queues_of_their_own() {
    // Rates that differ by a factor of a hundred.
    let traffic =
        named(3, &[(&[1.0, 0.0, 0.0], 0.6), (&[0.0, 100.0, 0.0], 0.003), (&[0.0, 0.0, 0.01], 50.0)]);
    for objective in [DRF, PF, BMF] {
        let outcome = chain(&traffic, objective, 1e-9);
        for (class, expected) in outcome.classes.iter().zip([0.4, 0.7 * 0.01, 0.5 * 100.0]) {
            assert!((class.service_rate - expected).abs() < 1e-6 * expected, "{objective}: {outcome:?}");
        }
    }
}

#[test]
fn errors_are_about_what_a_larger_truncation_corrects() {
    let traffic = mrf(0.8, [1.0, 2.0, 0.5]);
    for objective in [DRF, BMF] {
        let (rough, fine) = (chain(&traffic, objective, 1e-4), chain(&traffic, objective, 1e-10));
        for (rough, fine) in rough.classes.iter().zip(&fine.classes) {
            let error = (rough.service_rate - fine.service_rate).abs();
            let told = rough.service_rate_error;
            assert!(error <= told && told <= 30.0 * error, "{objective}: off by {error}, says {told}");
        }
    }
}

#[test]
fn work_and_capacities_are_measured_in_any_unit() {
    let traffic = mrf(0.6, [1.0, 2.0, 0.5]);
    let rates = service_rates(&chain(&traffic, PF, 1e-8));
    let mut classes = traffic.classes().to_vec();
    for class in &mut classes {
        class.demand = vec![class.demand[0] * 8.0, class.demand[1] * 3.0];
        class.work.mean = 5.0;
        class.arrival_rate /= 5.0;
    }
    let scaled = Traffic::new("", traffic.resources().to_vec(), vec![8.0, 3.0], classes).unwrap();
    let scaled = service_rates(&chain(&scaled, PF, 1e-8));
    assert!(close(&rates, &scaled, 1e-7), "{rates:?}, {scaled:?}");
}

#[test]
fn four_classes_on_three_resources_keep_the_papers_order() {
    let demands: [(&[f64], f64); 4] =
        [(&[0.2, 1.0, 0.3], 1.0), (&[1.0, 0.2, 0.3], 1.0), (&[0.1, 0.1, 1.0], 1.0), (&[1.0, 1.0, 1.0], 0.3)];
    let traffic = named(3, &demands).at_load(0.6);
    let of = |objective| service_rates(&chain(&traffic, objective, 1e-4));
    let (drf, pf, bmf) = (of(DRF), of(PF), of(BMF));
    // PF and BMF are close to each other, and serve the classes that need one resource mostly better than DRF.
    assert!(close(&pf[..3], &bmf[..3], 0.05), "{pf:?}, {bmf:?}");
    for k in 0..3 {
        assert!(pf[k] > 1.02 * drf[k] && bmf[k] > 1.02 * drf[k], "class {k}: {drf:?}, {pf:?}, {bmf:?}");
    }
}

#[test]
fn a_chain_gives_the_same_bytes_on_any_number_of_threads() {
    let traffic = mrf(0.85, [1.0, 2.0, 0.5]);
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| format!("{:?}", chain(&traffic, PF, 1e-6)))
    };
    assert!(on(1) == on(2) && on(1) == on(7));
}

#[test]
fn boosting_what_one_says_to_need_pays_only_where_hardly_anybody_else_is() {
    // The claim of MRF Sec. 2.3, which pays against one other transaction but not against two (MRF Sec. 4.2).
    let mut classes = vec![
        TrafficClass::new("claims", vec![0.5, 1.0], 1.0),
        TrafficClass::new("honest", vec![1.0, 0.5], 1.0),
    ];
    classes[0].claim = Some(vec![2.0 / 3.0, 1.0]);
    let traffic = Traffic::new("", vec!["a".into(), "b".into()], vec![1.0; 2], classes).unwrap();
    for (load, objective, pays) in [
        (0.2, DRF, false),
        (0.2, PF, true),
        (0.2, BMF, true),
        (0.4, PF, false),
        (0.4, BMF, false),
        (0.8, PF, false),
    ] {
        let traffic = traffic.at_load(load);
        let truth = service_rates(&chain(&traffic, objective, 1e-7));
        let claimed = service_rates(&chain(&traffic.as_claimed(), objective, 1e-7));
        assert_eq!(claimed[0] > truth[0], pays, "{objective} at {load}: {truth:?}, {claimed:?}");
        assert!(claimed[0] < 1.005 * truth[0] && claimed[1] < truth[1], "{objective} at {load}");
    }
}

#[test]
fn a_chain_that_would_not_fit_in_memory_is_refused_with_what_it_needs() {
    let traffic = mrf(0.95, [1.0; 3]);
    let rule = sharing_rule(&traffic, DRF).unwrap();
    let settings = MarkovSettings { border_mass: 1e-9, memory: 64 << 20 };
    let told = markov(&traffic, &*rule, settings).unwrap_err().to_string();
    assert!(told.contains("memory = 0.1 GiB: a border mass of 1e-9 takes"), "{told}");
}

fn flows(traffic: &Traffic, objective: Objective, settings: SimulationSettings) -> TrafficOutcome {
    flow_level(traffic, &*sharing_rule(traffic, objective).unwrap(), settings).unwrap()
}

#[test]
fn intervals_of_flow_level_simulations_cover_what_chains_say() {
    let settings = SimulationSettings { replications: 10, arrivals: 20_000, seed: 1 };
    let (mut covered, mut all) = (0, 0);
    for traffic in [mrf(0.5, [1.0; 3]), mrf(0.7, [4.0, 1.0, 1.0]), mrf(0.8, [1.0, 3.0, 2.0])] {
        for objective in SHARED {
            let known = chain(&traffic, objective, 1e-6);
            let found = flows(&traffic, objective, settings);
            for (known, found) in known.classes.iter().zip(&found.classes) {
                let missed = (known.service_rate - found.service_rate).abs() / found.service_rate_error;
                assert!(missed < 2.5, "{objective}: {found:?}, known {known:?}");
                assert!(found.service_rate_error < 0.06 * found.service_rate, "{objective}: {found:?}");
                covered += u32::from(missed <= 1.0);
                all += 1;
            }
        }
    }
    assert!(covered * 10 >= all * 9, "{covered} of {all} intervals of 95% cover");
}

/// By how much the service rates of one outcome differ from those of another, at most.
fn apart(found: &TrafficOutcome, fluid: &TrafficOutcome) -> f64 {
    let pairs = service_rates(found).into_iter().zip(service_rates(fluid));
    pairs.map(|(found, fluid)| (found / fluid - 1.0).abs()).fold(0.0, f64::max)
}

// The simulations below see the same transactions as those of the fluid model, so that what is left is not chance.

#[test]
fn packets_are_served_within_3_percent_of_the_fluid_rates() {
    let settings = SimulationSettings { replications: 2, arrivals: 400, seed: 1 };
    let packets = PacketSettings { packets_per_flow: 4000.0, window: 30 };
    let traffic = mrf(0.7, [4.0, 1.0, 1.0]);
    for objective in SHARED {
        let found = packet_level(&traffic, objective, settings, packets).unwrap();
        let fluid = flows(&traffic, objective, settings);
        assert!(apart(&found, &fluid) < 0.03, "{objective}: {found:?}, fluid {fluid:?}");
    }
    // One packet at a time leaves resources idle: what is close above is not close by itself.
    let one = PacketSettings { window: 1, ..packets };
    let found = packet_level(&traffic, BMF, settings, one).unwrap();
    assert!(apart(&found, &flows(&traffic, BMF, settings)) > 0.1, "{found:?}");
}

#[test]
fn flows_whose_packets_differ_share_as_those_with_their_mean() {
    let settings = SimulationSettings { replications: 2, arrivals: 400, seed: 1 };
    let packets = PacketSettings { packets_per_flow: 4000.0, window: 30 };
    let mean = named(2, &[(&[0.55, 0.55], 1.0), (&[0.1, 1.0], 1.0), (&[1.0, 0.1], 1.0)]).at_load(0.7);
    let mut classes = mean.classes().to_vec();
    classes[0].packet_demands = vec![vec![1.0, 0.1], vec![0.1, 1.0]];
    let varying = Traffic::new("", mean.resources().to_vec(), mean.capacity().to_vec(), classes).unwrap();
    for objective in [PF, BMF] {
        let found = packet_level(&varying, objective, settings, packets).unwrap();
        let fluid = flows(&mean, objective, settings);
        assert!(apart(&found, &fluid) < 0.03, "{objective}: {found:?}, fluid {fluid:?}");
    }
}

#[test]
fn short_round_trips_do_not_change_bottleneck_max_fairness() {
    let settings = SimulationSettings { replications: 2, arrivals: 400, seed: 1 };
    let packets = PacketSettings { packets_per_flow: 2000.0, window: 30 };
    let traffic = mrf(0.7, [4.0, 1.0, 1.0]);
    let far = |time: f64| {
        let mut classes = traffic.classes().to_vec();
        classes[1].propagation_time = time;
        let far =
            Traffic::new("", traffic.resources().to_vec(), traffic.capacity().to_vec(), classes).unwrap();
        packet_level(&far, BMF, settings, packets).unwrap()
    };
    // A window of 30 packets of 1/2000 each takes 0.015 (MRF eq. 6).
    let fluid = flows(&traffic, BMF, settings);
    assert!(apart(&far(0.005), &fluid) < 0.03, "{:?}, fluid {fluid:?}", far(0.005));
    // A longer round trip cannot be filled: no more than a window in each.
    let slow = far(0.1).classes[1].service_rate / (0.015 / 0.1);
    assert!((0.85..1.02).contains(&slow), "{slow}");
}

#[test]
fn whole_tasks_for_the_most_deprived_job_come_close_to_the_fluid_rates() {
    let settings = SimulationSettings { replications: 2, arrivals: 300, seed: 1 };
    let tasks = TaskLevelSettings { tasks_per_job: 2000.0, task_share: 0.04 };
    let traffic = mrf(0.7, [4.0, 1.0, 1.0]);
    for objective in SHARED {
        let rule = sharing_rule(&traffic, objective).unwrap();
        let found = task_level(&traffic, objective, &*rule, settings, tasks).unwrap();
        let fluid = flows(&traffic, objective, settings);
        assert!(apart(&found, &fluid) < 0.08, "{objective}: {found:?}, fluid {fluid:?}");
    }
}
