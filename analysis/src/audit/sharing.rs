//! Sharing incentive: nobody would do more work alone on its part of the cluster, against the two benchmarks of DRFH
//! Sec. IV-D: the same part of every server, and as many whole servers dealt out at random.

use super::case::{Case, name};
use super::finding::Searched;
use super::largest::LargestViolation;
use super::work::{amount, shortfall};
use fairplan_instances::{GroupId, Instance, InstanceError, Owner, User};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// More servers than this are not dealt out one by one.
const MOST_DEALT: u64 = 1_000_000;

pub(super) fn test(case: &Case<'_>, worst: &mut LargestViolation) -> Result<Searched, InstanceError> {
    if case.has_prior_claims() {
        return Ok(Searched::NotApplicable(
            "what is guaranteed or reserved comes before the parts that weights make of the servers".into(),
        ));
    }
    let weights = weights_of_all(&case.instance);
    let total_weight: f64 = weights.iter().sum();
    let asked: Vec<User<'_>> = case.instance.users().filter(|user| !is_below_limits(*user)).collect();
    let all = case.instance.user_count();
    if asked.is_empty() {
        return Ok(Searched::NotApplicable("limits of groups hold everybody".into()));
    }
    for user in asked.iter().copied() {
        let part = weights[user.index().0] / total_weight;
        let servers: Vec<f64> = case.servers.classes.iter().map(|class| part * class.count as f64).collect();
        let (alone, here) = (case.work_on_servers(user, &servers)?, case.work[user.index().0]);
        worst.see(shortfall(here, alone), || {
            let (id, here, alone) = (user.id(), amount(here), amount(alone));
            format!(
                "user {id} does the work of {here} tasks, but of {alone} alone on {part:.6} of every server"
            )
        });
    }
    let who = match asked.len() {
        some if some == all => "all users".to_owned(),
        some => format!("{some} of {all} users, whom no limit of a group holds"),
    };
    Ok(Searched::All(format!("{who}; {}", dealt(case, &weights, total_weight)?)))
}

/// Whether a group that a user is in has limits: how much of them is its part no weight says.
fn is_below_limits(user: User<'_>) -> bool {
    let instance = user.instance();
    let rows = instance.limit_rows();
    let is_group = |j: &usize| matches!(rows[*j].owner, Owner::Group(_));
    !rows.is_empty() && instance.limits_above(user).iter().any(is_group)
}

/// Weights by which all users would divide the servers: their own; in groups what weights from the root down make of the whole.
fn weights_of_all(instance: &Instance) -> Vec<f64> {
    if !instance.has_groups() {
        return instance.users().map(|user| user.weight().to_f64()).collect();
    }
    let groups = instance.groups();
    let has_members = instance.of_groups(false, |_| true, |a, b| a || b);
    // Sums of the weights that divide the root, and each group.
    let mut sums = vec![0.0; 1 + groups.len()];
    let node = |group: Option<GroupId>| group.map_or(0, |group| group.0 + 1);
    let with_members = groups.iter().zip(&has_members).filter(|(_, has_members)| **has_members);
    with_members.for_each(|(group, _)| sums[node(group.parent)] += group.weight.to_f64());
    instance.users().for_each(|user| sums[node(user.group())] += user.weight().to_f64());
    let mut part = vec![1.0; 1 + groups.len()];
    for GroupId(g) in instance.groups_upwards().into_iter().rev() {
        let above = node(groups[g].parent);
        part[g + 1] = part[above] * groups[g].weight.to_f64() / sums[above];
    }
    let of_user = |user: User<'_>| {
        let above = node(user.group());
        part[above] * user.weight().to_f64() / sums[above]
    };
    instance.users().map(of_user).collect()
}

/// How the users fare against whole servers dealt out by weight, in words.
fn dealt(case: &Case<'_>, weights: &[f64], total_weight: f64) -> Result<String, InstanceError> {
    let classes = &case.servers.classes;
    let servers = classes.iter().map(|class| class.count).fold(0, u64::saturating_add);
    if servers > MOST_DEALT {
        return Ok(format!("{servers} servers are too many to deal out one by one"));
    }
    let mut deck: Vec<usize> =
        classes.iter().enumerate().flat_map(|(l, class)| (0..class.count).map(move |_| l)).collect();
    let mut random = ChaCha8Rng::seed_from_u64(case.settings.seed);
    for last in (1..deck.len()).rev() {
        // Fisher–Yates; a deck of a million cards hides no bias of one in 2^64.
        let other = ((u128::from(random.next_u64()) * (last as u128 + 1)) >> 64) as usize;
        deck.swap(last, other);
    }
    let (mut from, mut weight, mut worse, mut first) = (0, 0.0, 0, None);
    for user in case.instance.users() {
        weight += weights[user.index().0];
        let to = ((weight / total_weight * deck.len() as f64).round() as usize).clamp(from, deck.len());
        let mut counts = vec![0.0; classes.len()];
        deck[from..to].iter().for_each(|&l| counts[l] += 1.0);
        from = to;
        if is_below_limits(user) {
            continue;
        }
        let (alone, here) = (case.work_on_servers(user, &counts)?, case.work[user.index().0]);
        if shortfall(here, alone) > case.tolerance() {
            worse += 1;
            first = first.or(Some(user.index().0));
        }
    }
    let such_as = first.map_or(String::new(), |i| format!(", user {} first", name(&case.instance, i)));
    let (users, seed) = (case.instance.user_count(), case.settings.seed);
    Ok(format!(
        "with whole servers dealt out by weight (seed {seed}) {worse} of {users} users would do more alone{such_as}"
    ))
}
