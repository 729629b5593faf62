//! Small random instances, seeded, leaning to the awkward: zeros, ties, duplicates, limits, several levels.

use crate::dice::Dice;
use crate::{Draft, DraftUser, decimal, plain_draft, plain_user};
use fairplan_instances::{Decimal, DeviceProfile, DeviceProfiles, DraftKind, ResourceId, ServerClass};

/// A buildable instance of up to 6 users, 4 classes and 3 resources, all integers 0–9; the same seed gives the
/// same instance.
pub fn random_draft(seed: u64) -> Draft {
    let mut dice = Dice::new(seed);
    loop {
        let draft = draw(&mut dice);
        if draft.build().is_ok() {
            return draft;
        }
    }
}

/// The same without rates; every fourth has four resources.
pub fn random_draft_without_rates(seed: u64) -> Draft {
    let mut draft = random_draft(seed);
    let mut dice = Dice::new(!seed);
    draft.users.iter_mut().for_each(|user| user.rates.clear());
    if seed.is_multiple_of(4) {
        while draft.resources.len() < 4 {
            draft.resources.push(format!("more-{}", draft.resources.len()));
            let mut digit = |least: u64| decimal(&(least + dice.below(9 - least)).to_string());
            draft.classes.iter_mut().for_each(|class| class.capacity.push(digit(4)));
            draft.users.iter_mut().for_each(|user| user.demand.push(digit(1)));
        }
    }
    draft
}

/// The same, but every user has rates and few tasks, so that most must weigh doing more work on some classes against
/// what that costs the others.
pub fn random_draft_with_task_rows(seed: u64) -> Draft {
    let mut draft = random_draft(seed);
    let mut dice = Dice::new(!seed);
    for user in &mut draft.users {
        let rate = |l| (l, decimal(dice.pick(&["0.5", "1", "2", "3"])));
        user.rates = (0..draft.classes.len()).map(rate).collect();
        user.tasks = Some(dice.below(6));
    }
    draft
}

/// The same draft, but most users have up to three kinds of tasks, several pieces of some, each where it may run.
pub fn with_random_kinds(draft: Draft, seed: u64) -> Draft {
    let mut dice = Dice::new(seed ^ 0x0b1d_0b1d);
    loop {
        let mut draft = draft.clone();
        let (zeros, eligibility) = (dice.pick(&[0, 20, 50]), dice.pick(&[0, 0, 30]));
        for user in &mut draft.users {
            if dice.percent(25) {
                continue;
            }
            let kind = |k| DraftKind {
                profile: None,
                id: format!("kind-{k}"),
                each: dice.pick(&[1, 1, 2, 3, 10]),
                demand: (0..user.demand.len()).map(|_| digit(&mut dice, zeros)).collect(),
                eligible: dice
                    .percent(eligibility)
                    .then(|| (0..draft.classes.len()).filter(|_| dice.percent(70)).collect()),
            };
            user.kinds = (0..1 + user.demand.len()).map(kind).collect();
            user.kinds.truncate(1 + dice.below(3) as usize);
            user.rates.clear();
        }
        if draft.build().is_ok() {
            return draft;
        }
    }
}

/// The same draft with devices of the last resource on most classes, of which tasks take whole ones or a part of one, and limits a server
/// for some users.
pub fn with_random_server_rules(draft: Draft, seed: u64) -> Draft {
    let mut dice = Dice::new(seed ^ 0x00de_71ce);
    loop {
        let mut draft = draft.clone();
        let last = draft.resources.len() - 1;
        for class in &mut draft.classes {
            let devices = 1 + dice.below(3);
            class.capacity[last] = Decimal::from(devices as u32);
            class.devices = if dice.percent(85) { vec![(ResourceId(last), devices)] } else { Vec::new() };
        }
        for user in &mut draft.users {
            user.demand[last] =
                decimal(dice.pick(&["0", "1", "2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.25", "0.35"]));
            user.per_server = dice.percent(30).then(|| 1 + dice.below(2));
        }
        if draft.build().is_ok() {
            return draft;
        }
    }
}

/// The same draft with devices of the last resource on all classes, which profiles cut: sometimes those of an A100 with 40 GB, mostly drawn
/// ones. Some tasks have a profile, others whole devices or a part of one at will.
pub fn with_random_profiles(draft: Draft, seed: u64) -> Draft {
    let mut dice = Dice::new(seed ^ 0x0c07_a100);
    loop {
        let mut draft = draft.clone();
        let last = draft.resources.len() - 1;
        let cut = random_profiles(&mut dice, ResourceId(last));
        let slices = cut.slices;
        for class in &mut draft.classes {
            let devices = if slices == 8 { 1 } else { 1 + dice.below(2) };
            class.capacity[last] = Decimal::from(devices as u32 * slices);
            class.devices = vec![(ResourceId(last), devices)];
        }
        let mut draw = |profile: &mut Option<String>, demand: &mut Decimal| {
            let drawn = &cut.profiles[dice.below(cut.profiles.len() as u64) as usize];
            *profile = dice.percent(65).then(|| drawn.name.clone());
            *demand = match (profile, dice.below(4)) {
                (Some(_), _) => Decimal::from(drawn.slices),
                (None, 0) => Decimal::ZERO,
                (None, 1) => Decimal::from(slices),
                (None, _) => Decimal::from(1 + dice.below(slices.into()) as u32),
            };
        };
        for user in &mut draft.users {
            user.kinds.iter_mut().for_each(|kind| draw(&mut kind.profile, &mut kind.demand[last]));
            if user.kinds.is_empty() {
                draw(&mut user.profile, &mut user.demand[last]);
            }
        }
        draft.device_profiles = vec![cut];
        if draft.build().is_ok() {
            return draft;
        }
    }
}

/// What NVIDIA's MIG user guide says of an A100 with 40 GB, or a few profiles of up to five slices.
fn random_profiles(dice: &mut Dice, resource: ResourceId) -> DeviceProfiles {
    let profile = |name: &str, slices, starts: &[u32]| DeviceProfile {
        name: name.into(),
        slices,
        starts: starts.to_vec(),
    };
    if dice.percent(25) {
        let profiles = vec![
            profile("1g", 1, &[0, 1, 2, 3, 4, 5, 6]),
            profile("1g+", 2, &[0, 2, 4, 6]),
            profile("2g", 2, &[0, 2, 4]),
            profile("3g", 4, &[0, 4]),
            profile("4g", 4, &[0]),
            profile("7g", 8, &[0]),
        ];
        return DeviceProfiles { resource, slices: 8, profiles };
    }
    let slices = 2 + dice.below(4) as u32;
    let one = |number: u64, dice: &mut Dice| {
        let own = 1 + dice.below(slices.into()) as u32;
        let mut starts: Vec<u32> = (0..=slices - own).filter(|_| dice.percent(60)).collect();
        if starts.is_empty() {
            starts.push(0);
        }
        profile(&format!("p{number}"), own, &starts)
    };
    let mut profiles: Vec<DeviceProfile> = (0..1 + dice.below(3)).map(|number| one(number, dice)).collect();
    profiles.sort_by(|a, b| a.slices.cmp(&b.slices).then_with(|| a.name.cmp(&b.name)));
    DeviceProfiles { resource, slices, profiles }
}

/// So many users of small tasks over the classes of [`random_draft`], many of them nearly alike; weights over four decades
/// in some.
pub fn random_crowd(seed: u64, users: usize) -> Draft {
    let mut dice = Dice::new(seed ^ 0x00c0_ffee);
    let mut draft = random_draft(seed);
    let few = std::mem::take(&mut draft.users);
    let weights = dice.percent(50);
    let two_digits = |dice: &mut Dice, digit: &Decimal| {
        let tenths = (digit.to_f64() * 10.0) as u64;
        decimal(&format!("{}e-4", if tenths == 0 { 0 } else { tenths + dice.below(10) }))
    };
    for position in 0..users {
        let model = &few[dice.below(few.len() as u64) as usize];
        let demand = model.demand.iter().map(|digit| two_digits(&mut dice, digit)).collect();
        let id = format!("user-{position}");
        let weight =
            if weights { decimal(dice.pick(&["0.01", "0.3", "1", "7", "100"])) } else { model.weight };
        draft.users.push(DraftUser { id, demand, weight, ..model.clone() });
    }
    draft
}

/// The same, but every user does different work on every class, as no other does; in some all tasks are few, in some
/// there are as many as one could wish.
pub fn random_crowd_with_own_rates(seed: u64, users: usize) -> Draft {
    let mut dice = Dice::new(!seed ^ 0x0ca7_f00d);
    let mut draft = random_crowd(seed, users);
    let (limits, most) = (dice.pick(&[0, 50, 100]), dice.pick(&[3, 30, 300]));
    for user in &mut draft.users {
        let rate = |l| (l, decimal(&format!("{}e-4", 1_000 + dice.below(9_000))));
        user.rates = (0..draft.classes.len()).map(rate).collect();
        user.tasks = dice.percent(limits).then(|| 1 + dice.below(most));
    }
    draft
}

/// The draft of [`random_draft`] with what checkers overlook: classes of no servers, users whose whole demand is nothing
/// beside the cluster, limits that do not bind, a resource that nobody has, weights and amounts many orders apart. What
/// cannot be counted exactly is no instance.
pub fn odd_draft(seed: u64) -> Draft {
    let mut draft = random_draft(seed);
    let mut dice = Dice::new(seed ^ 0x000d_d0dd);
    let scaled = |number: &Decimal, power: i32| decimal(&format!("{}e{power}", number.to_f64()));
    if dice.percent(35) {
        let mut twin = draft.classes[0].clone();
        (twin.id, twin.count) = ("class-of-none".into(), 0);
        draft.classes.insert(0, twin);
        for user in &mut draft.users {
            user.eligible.iter_mut().flatten().for_each(|class| *class += 1);
            user.rates.iter_mut().for_each(|(class, _)| *class += 1);
        }
    }
    if dice.percent(30) {
        let power = dice.pick(&[-10, -8, -4]);
        let mut tiny = draft.users[dice.below(draft.users.len() as u64) as usize].clone();
        tiny.id = "tiny".into();
        tiny.demand.iter_mut().for_each(|demand| *demand = scaled(demand, power));
        tiny.tasks = if dice.percent(60) { Some(1 + dice.below(50)) } else { None };
        draft.users.push(tiny);
    }
    if dice.percent(30) {
        let user = dice.below(draft.users.len() as u64) as usize;
        draft.users[user].tasks = Some(dice.pick(&[1_000, 1_000_000_000, 4_000_000_000_000]));
    }
    if dice.percent(20) {
        draft.resources.push("absent".into());
        draft.classes.iter_mut().for_each(|class| class.capacity.push(Decimal::ZERO));
        draft.users.iter_mut().for_each(|user| user.demand.push(Decimal::ZERO));
    }
    if dice.percent(25) {
        let power = dice.pick(&[-9, 9, 12]);
        let r = dice.below(draft.resources.len() as u64) as usize;
        draft.classes.iter_mut().for_each(|class| class.capacity[r] = scaled(&class.capacity[r], power));
        if dice.percent(70) {
            draft.users.iter_mut().for_each(|user| user.demand[r] = scaled(&user.demand[r], power));
        }
    }
    if dice.percent(25) {
        let weight = decimal(dice.pick(&["0.000001", "1000000", "0.001"]));
        draft.users[0].weight = weight;
    }
    if dice.percent(20) {
        let class = dice.below(draft.classes.len() as u64) as usize;
        draft.classes[class].count *= dice.pick(&[0, 7, 1_000_000]);
    }
    draft
}

/// An integer in `0..=9`, zero with the given chance beyond its own.
fn digit(dice: &mut Dice, zeros: u64) -> Decimal {
    let value = if dice.percent(zeros) { 0 } else { dice.below(10) };
    decimal(&value.to_string())
}

fn draw(dice: &mut Dice) -> Draft {
    let resources = dice.pick(&[1, 2, 2, 3, 3]);
    let zeros = dice.pick(&[0, 20, 40]);
    let (limits, eligibility, weights, rates) =
        (dice.percent(40), dice.percent(40), dice.percent(40), dice.percent(30));
    let duplicates = dice.pick(&[0, 0, 50]);

    let mut classes: Vec<ServerClass> = Vec::new();
    for l in 0..dice.pick(&[1, 2, 3, 3, 4, 4]) {
        let mut capacity: Vec<Decimal> = (0..resources).map(|_| digit(dice, zeros)).collect();
        if l > 0 && dice.percent(duplicates) {
            capacity.clone_from(&classes[dice.below(l as u64) as usize].capacity);
        }
        classes.push(ServerClass::new(format!("class-{l}"), 1 + dice.below(3), capacity));
    }

    let mut users: Vec<DraftUser> = Vec::new();
    for i in 0..dice.pick(&[1, 2, 3, 4, 5, 5, 6, 6]) {
        let mut user = plain_user(i, (0..resources).map(|_| digit(dice, zeros)).collect());
        if i > 0 && dice.percent(duplicates) {
            let other = &users[dice.below(i as u64) as usize];
            user.demand.clone_from(&other.demand);
            user.eligible.clone_from(&other.eligible);
        }
        if eligibility && dice.percent(50) {
            user.eligible = Some((0..classes.len()).filter(|_| dice.percent(60)).collect());
        }
        if weights {
            user.weight = decimal(dice.pick(&["0.5", "1", "2", "3", "0.1", "7"]));
        }
        if rates && dice.percent(50) {
            let speeds = (0..classes.len()).map(|l| (l, decimal(dice.pick(&["0.5", "1", "2", "3"]))));
            user.rates = speeds.collect();
        }
        if limits && dice.percent(50) {
            user.tasks = Some(dice.below(10));
        }
        users.push(user);
    }
    let resources = ["cpu", "memory", "disk"][..resources].iter().map(|name| name.to_string()).collect();
    plain_draft(resources, classes, users)
}
