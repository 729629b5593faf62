//! What traffic is refused, and what claims and loads come to.

use super::*;

fn classes() -> Vec<TrafficClass> {
    vec![
        TrafficClass::new("a", vec![0.1, 1.0], 0.4),
        TrafficClass::new("b", vec![1.0, 0.1], 0.1),
        TrafficClass::new("c", vec![1.0, 1.0], 0.1),
    ]
}

fn traffic(classes: Vec<TrafficClass>) -> Result<Traffic, Violation> {
    Traffic::new("t", vec!["x".into(), "y".into()], vec![1.0, 1.0], classes)
}

#[test]
fn loads_are_those_of_the_paper_and_scale_with_the_arrivals() {
    let traffic = traffic(classes()).unwrap();
    let loads = traffic.loads();
    assert!((loads[0] - 0.24).abs() < 1e-15 && (loads[1] - 0.51).abs() < 1e-15, "{loads:?}");
    let heavier = traffic.at_load(0.9);
    assert!((heavier.heaviest().1 - 0.9).abs() < 1e-15);
    assert_eq!(heavier.heaviest().0, 1);
    assert!(heavier.check_stable().is_ok());
}

#[test]
fn an_unstable_load_names_the_resource_that_overflows() {
    let told = traffic(classes()).unwrap().at_load(1.25).check_stable().unwrap_err().to_string();
    assert!(told.starts_with("load of y = 1.25: the load must be < 1"), "{told}");
    assert!(told.ends_with("lower the arrivals by 0.8000 or more"), "{told}");
}

#[test]
fn whoever_claims_more_of_one_resource_takes_it_without_working_faster() {
    let mut liars = classes();
    liars[0].claim = Some(vec![0.5, 1.0]);
    liars[1].claim = Some(vec![0.5, 0.1]);
    let claimed = traffic(liars).unwrap().as_claimed();
    assert_eq!(claimed.classes()[0].demand, [0.5, 1.0]);
    // Half of what it needs of x lets it do half the work, and double what it takes of y.
    assert_eq!(claimed.classes()[1].demand, [1.0, 0.2]);
    assert!(!claimed.has_claims());
}

#[test]
fn what_breaks_a_rule_is_refused_with_its_place() {
    let told = |change: &dyn Fn(&mut Vec<TrafficClass>)| {
        let mut classes = classes();
        change(&mut classes);
        traffic(classes).unwrap_err().to_string()
    };
    assert_eq!(told(&|c| c[1].arrival_rate = 0.0), "classes[1].arrival_rate = 0: must be > 0");
    assert_eq!(told(&|c| c[1].arrival_rate = f64::NAN), "classes[1].arrival_rate = NaN: must be > 0");
    assert_eq!(told(&|c| c[2].demand = vec![0.0, 0.0]), "classes[2].demand: must need some resource");
    assert_eq!(told(&|c| c[2].demand = vec![-1.0, 0.0]), "classes[2].demand.x = -1: must be >= 0");
    assert_eq!(told(&|c| c[0].work.mean = -2.0), "classes[0].work.mean = -2: must be > 0");
    assert_eq!(told(&|c| c[1].id = "a".into()), "classes[1].id = a: duplicate id");
    assert_eq!(told(&|c| c.clear()), "classes = 0: there must be 1 to 64");
    assert!(told(&|c| c[0].claim = Some(vec![0.0, 1.0])).starts_with("classes[0].claim.x = 0: must be > 0"));
    let pareto = |shape| WorkDistribution::Pareto { shape };
    assert!(
        told(&|c| c[0].work.distribution = pareto(1.0)).starts_with("classes[0].work.shape = 1: must be > 1")
    );
    let packets = told(&|c| c[0].packet_demands = vec![vec![0.1, 1.0], vec![0.3, 1.0]]);
    assert_eq!(packets, "classes[0].packet_demands.x = 0.2: their mean must be the class's demand, 0.1");
    let by_parts = |parts: f64| {
        let mut classes = classes();
        classes[0].packet_demands =
            vec![classes[0].demand.iter().map(|demand| demand * (1.0 + parts)).collect()];
        traffic(classes).is_ok()
    };
    assert!(by_parts(0.9 * MEAN_OF_PACKETS) && !by_parts(1.1 * MEAN_OF_PACKETS));
}
