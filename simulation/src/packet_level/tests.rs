use super::*;
use fairplan_instances::TrafficClass;

const SHORT: SimulationSettings = SimulationSettings { replications: 8, arrivals: 4000, seed: 3 };

fn names(count: usize) -> Vec<String> {
    (0..count).map(|r| format!("r{r}")).collect()
}

#[test]
fn packets_of_one_class_share_evenly() {
    // M/M/1 processor sharing; what follows the bottleneck only adds the last packet's way.
    let class = TrafficClass::new("a", vec![0.2, 1.0], 0.6);
    let traffic = Traffic::new("", names(2), vec![1.0; 2], vec![class]).unwrap();
    for objective in [Objective::DrfPooled, Objective::ProportionalFairness, Objective::BottleneckMaxFairness]
    {
        // With a window of a tenth of a flow, proportional fairness would be an eighth off.
        let packets = PacketSettings { packets_per_flow: 3000.0, window: 30 };
        let settings = SimulationSettings { replications: 8, arrivals: 2000, seed: 3 };
        let found = packet_level(&traffic, objective, settings, packets).unwrap().classes[0];
        assert!((found.service_rate - 0.4).abs() < 1.2 * found.service_rate_error, "{objective}: {found:?}");
        assert!(found.service_rate_error < 0.08, "{objective}: {found:?}");
    }
}

#[test]
fn a_flow_alone_sends_its_window_in_every_round_trip() {
    // So few flows that they do not meet: each lasts as long as its packets need, one window a round trip.
    let mut class = TrafficClass::new("a", vec![1.0], 1e-4);
    class.work.distribution = fairplan_instances::WorkDistribution::Deterministic;
    class.propagation_time = 0.2;
    let traffic = Traffic::new("", names(1), vec![1.0], vec![class]).unwrap();
    let packets = PacketSettings { packets_per_flow: 200.0, window: 20 };
    let settings = SimulationSettings { replications: 4, arrivals: 4000, seed: 1 };
    let bmf = Objective::BottleneckMaxFairness;
    let found = packet_level(&traffic, bmf, settings, packets).unwrap().classes[0];
    // 10 windows: 9 times the way of an answer and the service of a packet, 1/200, and the last window's 20 services.
    let lasts = 9.0 * 0.205 + 0.1;
    assert!((found.completion_time / lasts - 1.0).abs() < 0.03, "{found:?}, known {lasts}");
}

#[test]
fn what_packets_cannot_do_is_refused() {
    let told = |change: &dyn Fn(&mut TrafficClass), objective, window, packets_per_flow| {
        let mut class = TrafficClass::new("a", vec![0.5, 0.5], 0.1);
        change(&mut class);
        let traffic = Traffic::new("", names(2), vec![1.0; 2], vec![class]).unwrap();
        let packets = PacketSettings { packets_per_flow, window };
        packet_level(&traffic, objective, SHORT, packets).unwrap_err().to_string()
    };
    let bmf = Objective::BottleneckMaxFairness;
    assert!(told(&|_| {}, bmf, 0, 10.0).starts_with("window = 0: must be at least 1"));
    assert!(told(&|_| {}, bmf, 1, 0.5).starts_with("packets_per_flow = 0.5: must be at least 1"));
    assert!(told(&|_| {}, bmf, 1, f64::NAN).starts_with("packets_per_flow = NaN"));
    assert!(told(&|_| {}, Objective::Drfh, 1, 10.0).contains("packets share by drf, pf or bmf"));
    assert!(told(&|c| c.arrival_rate = 3.0, bmf, 1, 10.0).contains("the load must be < 1"));
    let travels = told(&|c| c.propagation_time = 1.0, Objective::ProportionalFairness, 1, 10.0);
    assert!(travels.starts_with("classes[0].propagation_time = 1: pf needs"), "{travels}");
    let varies =
        told(&|c| c.packet_demands = vec![vec![1.0, 0.0], vec![0.0, 1.0]], Objective::DrfPooled, 1, 10.0);
    assert!(varies.starts_with("classes[0].packet_demands = 2: memoryless drf"), "{varies}");
}
