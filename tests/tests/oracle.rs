//! The exact oracle itself, against cases worked by hand and against water-filling.

use fairplan_tests::{Draft, Fraction, decimal, draft, exact_max_min, random_draft, water_filling};

fn weighted(draft: &Draft) -> Vec<Fraction> {
    exact_max_min(&draft.build().unwrap()).weighted
}

#[test]
fn fig_1_of_the_drfh_paper_gives_each_user_five_sevenths() {
    let draft = draft(&[(1, "2 12"), (1, "12 2")], &["0.2 1", "1 0.2"]);
    assert_eq!(weighted(&draft), vec![Fraction::new(5, 7); 2]);
}

#[test]
fn a_user_without_the_scarce_resource_rises_to_a_second_level() {
    // cpu 10 is shared by two users until memory 4 runs out at 2 tasks each; the third user needs only cpu.
    let draft = draft(&[(1, "10 4")], &["1 1", "1 1", "1 0"]);
    // Shares by memory: 2 of 4 each; cpu left: 6 of 10.
    assert_eq!(weighted(&draft), [Fraction::new(1, 2), Fraction::new(1, 2), Fraction::new(3, 5)]);
}

#[test]
fn a_user_with_few_tasks_leaves_its_share_to_the_others() {
    let mut draft = draft(&[(3, "4")], &["1", "1", "1"]);
    draft.users[0].tasks = Some(1);
    draft.users[2].weight = decimal("4");
    // 1 task of 12; the other 11 in the proportion 1 to 4.
    let exact = exact_max_min(&draft.build().unwrap());
    assert_eq!(exact.shares, [Fraction::new(1, 12), Fraction::new(11, 60), Fraction::new(44, 60)]);
    assert_eq!(exact.levels(), [Fraction::new(1, 12), Fraction::new(11, 60)]);
    assert_eq!(exact.value(), &Fraction::new(1, 12));
    draft.users[0].tasks = Some(0);
    assert_eq!(weighted(&draft), [Fraction::zero(), Fraction::new(1, 5), Fraction::new(1, 5)]);
}

#[test]
fn a_user_bound_to_a_small_class_does_not_hold_back_the_rest() {
    let mut draft = draft(&[(1, "1"), (1, "9")], &["1", "1"]);
    draft.users[0].eligible = Some(vec![0]);
    assert_eq!(weighted(&draft), [Fraction::new(1, 10), Fraction::new(9, 10)]);
    draft.users[0].eligible = Some(Vec::new());
    assert_eq!(weighted(&draft), [Fraction::zero(), Fraction::one()]);
}

#[test]
fn a_faster_class_counts_for_more_work() {
    let mut draft = draft(&[(1, "1"), (1, "1")], &["1", "1"]);
    draft.users[0].rates = vec![(1, decimal("3"))];
    // Class 1 does three times the work for user 0: alone on a part a of it, 3a/2 = (1 + (1 - a))/2.
    assert_eq!(weighted(&draft), vec![Fraction::new(3, 4); 2]);
}

#[test]
fn water_filling_and_the_linear_programs_agree_on_single_classes() {
    let mut compared = 0;
    for seed in 0..2_000 {
        let mut draft = random_draft(seed);
        draft.classes.truncate(1);
        draft.users.iter_mut().for_each(|user| {
            user.eligible = None;
            user.rates.clear();
        });
        if let Ok(instance) = draft.build() {
            assert_eq!(exact_max_min(&instance).weighted, water_filling(&instance), "seed {seed}: {draft:?}");
            compared += 1;
        }
    }
    assert!(compared > 1_000, "only {compared} of the instances have a usable first class");
}

#[test]
fn the_random_instances_reach_the_awkward_cases() {
    let drafts: Vec<_> = (0..500).map(random_draft).collect();
    assert_eq!(drafts[7], random_draft(7), "the same seed gives the same instance");
    let count = |has: &dyn Fn(&Draft) -> bool| drafts.iter().filter(|draft| has(draft)).count();
    let levels = |draft: &Draft| exact_max_min(&draft.build().unwrap()).levels().len();
    assert!(count(&|draft| levels(draft) >= 3) > 50);
    assert!(count(&|draft| draft.users.iter().any(|user| user.tasks == Some(0))) > 20);
    assert!(count(&|draft| draft.users.iter().any(|user| !user.rates.is_empty())) > 40);
    assert!(count(&|draft| draft.users.iter().any(|user| user.eligible == Some(vec![]))) > 10);
    assert!(
        count(&|draft| draft.classes.iter().any(|class| class.capacity.iter().any(|c| c.is_zero()))) > 100
    );
}
