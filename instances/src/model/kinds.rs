//! Kinds of tasks that a user needs together: one task is a bundle of so many pieces of each, placed anywhere each may run.
//!
//! A user without kinds has one, its task itself, so that whoever goes over kinds covers everybody.

use super::{ClassId, Instance, InstanceBuilder, NewUser, PlacementRule, ResourceId, RuleId, User, UserId};
use crate::violation::Violation;
use crate::{Decimal, DecimalError};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Position of a kind among those of all users of an instance, user by user; that of its user where no user has kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindId(pub usize);

/// One kind of tasks on its way into an instance.
#[derive(Clone, Debug, PartialEq)]
pub struct NewKind {
    /// Unique among the kinds of its user.
    pub id: String,
    /// Pieces of this kind in one task (> 0).
    pub each: u64,
    /// One piece's demand, one entry a resource.
    pub demand: Vec<Decimal>,
    /// Where pieces may run, from [`InstanceBuilder::rule`]; no rates.
    pub rule: RuleId,
}

/// Most pieces of a kind in one task: more would be a typing error.
const MOST_PIECES: u64 = 1_000_000_000;

/// The kinds of all users, column by column; kept only where some user has kinds.
#[derive(Clone)]
pub(super) struct Kinds {
    /// Where each user's kinds begin, and at last where all end.
    starts: Vec<u32>,
    user_of: Vec<u32>,
    /// The distinct names, and which of them each kind has; [`UNNAMED`] for the task of a user without kinds.
    names: Vec<String>,
    positions: HashMap<String, u32>,
    name_of: Vec<u32>,
    each: Vec<u64>,
    /// One piece's demand, row-major `kinds × resources`.
    pieces: Vec<Decimal>,
    /// What a task needs of this kind, `each` times the demand, as nearest doubles.
    doubles: Vec<f64>,
    rule_of: Vec<u32>,
}

const UNNAMED: u32 = u32::MAX;

impl Kinds {
    fn of_plain(users: impl Iterator<Item = (RuleId, Vec<Decimal>)>) -> Self {
        let mut kinds = Self {
            starts: vec![0],
            user_of: Vec::new(),
            names: Vec::new(),
            positions: HashMap::new(),
            name_of: Vec::new(),
            each: Vec::new(),
            pieces: Vec::new(),
            doubles: Vec::new(),
            rule_of: Vec::new(),
        };
        users.for_each(|(rule, demand)| kinds.push_plain(rule, &demand));
        kinds
    }

    /// The user after the last one has no kinds.
    pub(super) fn push_plain(&mut self, rule: RuleId, demand: &[Decimal]) {
        self.push(UNNAMED, 1, demand, rule);
        self.end_user();
    }

    fn push(&mut self, name: u32, each: u64, demand: &[Decimal], rule: RuleId) {
        self.user_of.push(self.starts.len() as u32 - 1);
        self.name_of.push(name);
        self.each.push(each);
        self.pieces.extend_from_slice(demand);
        self.doubles.extend(demand.iter().map(|demand| demand.to_f64() * each as f64));
        self.rule_of.push(rule.0 as u32);
    }

    fn end_user(&mut self) {
        self.starts.push(self.user_of.len() as u32);
    }

    fn name(&mut self, name: &str) -> u32 {
        if let Some(known) = self.positions.get(name) {
            return *known;
        }
        let position = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.positions.insert(name.to_owned(), position);
        position
    }

    fn of_user(&self, user: usize) -> Range<usize> {
        self.starts[user] as usize..self.starts[user + 1] as usize
    }
}

impl Instance {
    /// Whether any user has kinds of tasks.
    pub fn has_kinds(&self) -> bool {
        self.kinds.is_some()
    }

    /// How many kinds all users have; as many as there are users where none has kinds.
    pub fn kind_count(&self) -> usize {
        self.kinds.as_ref().map_or(self.user_count(), |kinds| kinds.user_of.len())
    }

    /// One kind.
    pub fn kind(&self, id: KindId) -> Kind<'_> {
        Kind { instance: self, id }
    }

    /// For what does not know kinds.
    ///
    /// # Errors
    /// If a user has kinds, naming the first; `what` asks.
    pub fn without_kinds(&self, what: &str) -> Result<(), Violation> {
        let Some(user) = self.kinds.as_ref().and_then(|_| self.users().find(|user| user.has_kinds())) else {
            return Ok(());
        };
        let problem = format!("{what} does not know kinds of tasks yet; make each kind a user of its own");
        Err(Violation::new(format!("users[{}].kinds", user.index().0), "", problem))
    }
}

impl<'a> User<'a> {
    /// Whether the user's task is a bundle of kinds.
    pub fn has_kinds(self) -> bool {
        let kinds = self.instance.kinds.as_ref();
        kinds.is_some_and(|kinds| kinds.name_of[kinds.starts[self.id.0] as usize] != UNNAMED)
    }

    /// The positions of the user's kinds among those of all users.
    pub fn kind_range(self) -> Range<usize> {
        match &self.instance.kinds {
            None => self.id.0..self.id.0 + 1,
            Some(kinds) => kinds.of_user(self.id.0),
        }
    }

    /// Which field states the user's demand of a resource, and what that is: the first of its kinds that needs any.
    pub(super) fn demand_stated(self, resource: usize) -> (String, Decimal) {
        let needs = |kind: &Kind<'_>| !kind.piece()[resource].is_zero();
        match self.kinds().enumerate().find(|(_, kind)| self.has_kinds() && needs(kind)) {
            Some((k, kind)) => (format!("kinds[{k}].demand"), kind.piece()[resource]),
            None => ("demand".into(), self.demand()[resource]),
        }
    }

    /// The kinds of which one of the user's tasks consists: its task itself where it has none.
    pub fn kinds(self) -> impl ExactSizeIterator<Item = Kind<'a>> + Clone {
        let instance = self.instance;
        self.kind_range().map(move |k| instance.kind(KindId(k)))
    }

    /// Whether the divisible model lets the user run whole tasks on `class`: all kinds of one can use it.
    pub fn can_run_whole_on(self, class: ClassId) -> bool {
        self.kinds().all(|kind| kind.can_use(class))
    }
}

/// A view of one kind of a user's tasks.
#[derive(Clone, Copy)]
pub struct Kind<'a> {
    instance: &'a Instance,
    id: KindId,
}

impl<'a> Kind<'a> {
    /// Position among the kinds of all users.
    pub fn index(self) -> KindId {
        self.id
    }

    /// Whose kind it is.
    pub fn user(self) -> User<'a> {
        let user = self.instance.kinds.as_ref().map_or(self.id.0, |kinds| kinds.user_of[self.id.0] as usize);
        self.instance.user(UserId(user))
    }

    /// Its name; `None` for the task of a user without kinds.
    pub fn id(self) -> Option<&'a str> {
        let kinds = self.instance.kinds.as_ref()?;
        kinds.names.get(kinds.name_of[self.id.0] as usize).map(String::as_str)
    }

    /// Pieces of it in one task.
    pub fn each(self) -> u64 {
        self.instance.kinds.as_ref().map_or(1, |kinds| kinds.each[self.id.0])
    }

    /// One piece's demand, one entry a resource.
    pub fn piece(self) -> &'a [Decimal] {
        let m = self.instance.resources.len();
        let of_all = self.instance.kinds.as_ref().map_or(&self.instance.demands, |kinds| &kinds.pieces);
        &of_all[self.id.0 * m..(self.id.0 + 1) * m]
    }

    /// What one task needs of this kind, all its pieces together, as doubles.
    pub fn demand_doubles(self) -> &'a [f64] {
        let m = self.instance.resources.len();
        let of_all =
            self.instance.kinds.as_ref().map_or(&self.instance.demand_doubles, |kinds| &kinds.doubles);
        &of_all[self.id.0 * m..(self.id.0 + 1) * m]
    }

    /// The same of one resource in whole smallest units.
    pub fn demand_units(self, resource: ResourceId) -> u128 {
        self.piece_units(resource) * u128::from(self.each())
    }

    /// One piece's demand of a resource in whole smallest units.
    pub fn piece_units(self, resource: ResourceId) -> u128 {
        self.instance.in_units(resource, self.piece()[resource.0])
    }

    /// Which placement rule its pieces have.
    pub fn rule_id(self) -> RuleId {
        match &self.instance.kinds {
            None => self.instance.user(UserId(self.id.0)).rule_id(),
            Some(kinds) => RuleId(kinds.rule_of[self.id.0] as usize),
        }
    }

    /// Where its pieces may run.
    pub fn rule(self) -> &'a PlacementRule {
        &self.instance.rules[self.rule_id().0]
    }

    /// Whether the divisible model lets its pieces run on `class`: eligible, and the class has some of every resource that a
    /// piece needs.
    pub fn can_use(self, class: ClassId) -> bool {
        let server = &self.instance.classes[class.0];
        let has = |(demand, capacity): (&Decimal, &Decimal)| demand.is_zero() || !capacity.is_zero();
        self.rule().allows(class) && server.count > 0 && self.piece().iter().zip(&server.capacity).all(has)
    }

    /// Whether there is a class that its pieces can use.
    pub fn can_run(self) -> bool {
        (0..self.instance.classes.len()).map(ClassId).any(|class| self.can_use(class))
    }

    /// Whether all servers hold as many whole pieces as one task has of this kind and of those of its user that are like it, if they hold
    /// nothing else.
    pub(super) fn has_room_for_a_task(self) -> bool {
        // With a limit a server each kind counts for itself.
        let own = |kind: Kind<'a>| kind.user().per_server().map(|_| kind.id);
        let what = |kind: Kind<'a>| (kind.rule_id(), kind.piece(), kind.profile(), own(kind));
        let alike = self.user().kinds().filter(|other| what(*other) == what(self));
        let needed: u128 = alike.map(|kind| u128::from(kind.each())).sum();
        let classes = self.instance.classes.iter().enumerate();
        let held = classes.map(|(l, class)| self.held_by_one(ClassId(l)).saturating_mul(class.count.into()));
        held.fold(0, u128::saturating_add) >= needed
    }

    /// How many whole pieces an empty server of a class holds.
    fn held_by_one(self, class: ClassId) -> u128 {
        let held = |resource: ResourceId| {
            let piece = self.piece_units(resource);
            let devices = self.instance.classes[class.0].devices_of(resource);
            let profile = self.profile().filter(|profile| profile.resource == resource);
            match devices.zip(self.instance.device_units(resource)) {
                Some((devices, _)) if profile.is_some() => {
                    let on_one = profile.map_or(0, |profile| self.instance.most_on_a_device(profile));
                    u128::from(devices) * u128::from(on_one)
                }
                Some((devices, size)) if piece < size => u128::from(devices) * (size / piece),
                Some((devices, size)) => u128::from(devices) / (piece / size),
                None => self.instance.capacity_units(class, resource) / piece,
            }
        };
        let needed = (0..self.instance.resources.len()).map(ResourceId).filter(|r| self.piece_units(*r) > 0);
        let most = self.user().per_server().map_or(u128::MAX, u128::from);
        if self.rule().allows(class) { needed.map(held).min().unwrap_or(0).min(most) } else { 0 }
    }

    /// The dominant share of what one task needs of this kind.
    pub fn task_share(self) -> f64 {
        let parts = self.demand_doubles().iter().zip(&self.instance.measure_doubles);
        let needed = parts.filter(|(demand, _)| **demand > 0.0);
        needed.map(|(demand, measure)| demand / measure).fold(0.0, f64::max)
    }
}

impl InstanceBuilder {
    /// Adds a user whose task is a bundle of kinds; `user.demand` and `user.rule` do not count. A single kind of which a task
    /// has one piece is a user without kinds. The violation's place starts at the user (`users[3].kinds[1].each`).
    pub fn user_with_kinds(&mut self, user: NewUser<'_>, kinds: &[NewKind]) -> Result<UserId, Violation> {
        let position = self.user_count();
        self.check_kinds(position, kinds)?;
        if let [only] = kinds
            && only.each == 1
        {
            return self.user(NewUser { demand: &only.demand, rule: only.rule, ..user });
        }
        let demand = self.bundle(position, kinds)?;
        let instance = &mut self.instance;
        if instance.kinds.is_none() {
            let plain = |user: User<'_>| (user.rule_id(), user.demand().to_vec());
            instance.kinds = Some(Kinds::of_plain(instance.users().map(plain)));
        }
        for kind in kinds {
            for (exponent, demand) in instance.exponents.iter_mut().zip(&kind.demand) {
                *exponent = (*exponent).min(demand.exponent());
            }
        }
        let added = self.add_user(NewUser { demand: &demand, rule: RuleId(0), ..user })?;
        if let Some(columns) = &mut self.instance.kinds {
            for kind in kinds {
                let name = columns.name(&kind.id);
                columns.push(name, kind.each, &kind.demand, kind.rule);
            }
            columns.end_user();
        }
        Ok(added)
    }

    fn check_kinds(&self, user: usize, kinds: &[NewKind]) -> Result<(), Violation> {
        if kinds.is_empty() {
            let problem = "name at least one kind, or give the user a demand";
            return Err(Violation::new(format!("users[{user}].kinds"), "", problem));
        }
        let mut seen = HashSet::new();
        for (k, kind) in kinds.iter().enumerate() {
            let place = |field: &str| format!("users[{user}].kinds[{k}].{field}");
            if kind.id.is_empty() {
                return Err(Violation::new(place("id"), "", "a kind needs an id"));
            }
            if !seen.insert(kind.id.as_str()) {
                return Err(Violation::new(place("id"), &kind.id, "another kind of this user has this id"));
            }
            if kind.each == 0 || kind.each > MOST_PIECES {
                let problem =
                    format!("must be from 1 to {MOST_PIECES}; leave the kind out if there are none");
                return Err(Violation::new(place("each"), kind.each, problem));
            }
            if kind.demand.len() != self.resources().len() {
                let numbers = format!("{} numbers", kind.demand.len());
                return Err(Violation::new(place("demand"), numbers, "one number a resource"));
            }
            if kind.demand.iter().all(|demand| demand.is_zero()) {
                return Err(Violation::new(place("demand"), "", "a piece must need some resource"));
            }
        }
        Ok(())
    }

    /// What one task needs of all kinds together.
    fn bundle(&self, user: usize, kinds: &[NewKind]) -> Result<Vec<Decimal>, Violation> {
        let of_resource = |r: usize| -> Result<Decimal, DecimalError> {
            let needed = || kinds.iter().filter(|kind| !kind.demand[r].is_zero());
            let Some(exponent) = needed().map(|kind| kind.demand[r].exponent()).min() else {
                return Ok(Decimal::ZERO);
            };
            let units = needed().try_fold(0u128, |sum, kind| {
                let one = kind.demand[r].scaled(exponent)?;
                sum.checked_add(one.checked_mul(u128::from(kind.each))?)
            });
            Decimal::from_units(units.ok_or(DecimalError::TooPrecise)?, i32::from(exponent))
        };
        let resources = 0..self.resources().len();
        let summed = |r: usize| {
            of_resource(r).map_err(|problem| {
                let what = format!("the {} that a task needs of all kinds {problem}", self.resources()[r]);
                Violation::new(format!("users[{user}].kinds"), "", what)
            })
        };
        resources.map(summed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ServerClass;

    fn decimals(numbers: &[&str]) -> Vec<Decimal> {
        numbers.iter().map(|number| number.parse().unwrap()).collect()
    }

    fn builder() -> InstanceBuilder {
        let mut builder = InstanceBuilder::new("", vec!["cpu".into(), "gpu".into()]).unwrap();
        builder.class(ServerClass::new("cpus", 2, decimals(&["10", "0"]))).unwrap();
        builder.class(ServerClass::new("gpus", 1, decimals(&["10", "8"]))).unwrap();
        builder
    }

    fn kind(id: &str, each: u64, demand: &[&str]) -> NewKind {
        NewKind { id: id.into(), each, demand: decimals(demand), rule: RuleId(0) }
    }

    fn user(id: &str) -> NewUser<'_> {
        NewUser::new(id, &[])
    }

    #[test]
    fn a_task_of_kinds_needs_what_its_pieces_need_together() {
        let mut builder = builder();
        builder.user(NewUser::new("plain", &decimals(&["1", "0"]))).unwrap();
        let kinds = [kind("worker", 4, &["0.5", "1"]), kind("driver", 1, &["2", "0"])];
        builder.user_with_kinds(user("bundle"), &kinds).unwrap();
        builder.user(NewUser::new("after", &decimals(&["3", "0"]))).unwrap();
        let instance = builder.build().unwrap();
        assert!(instance.has_kinds());
        assert_eq!(instance.kind_count(), 4);
        let [plain, bundle, after] = [0, 1, 2].map(|i| instance.user(UserId(i)));
        assert_eq!(bundle.demand(), decimals(&["4", "4"]));
        assert_eq!([plain, bundle, after].map(|user| user.has_kinds()), [false, true, false]);
        assert_eq!(after.kind_range(), 3..4);
        let kinds: Vec<Kind<'_>> = bundle.kinds().collect();
        assert_eq!(kinds.iter().map(|kind| kind.id()).collect::<Vec<_>>(), [Some("worker"), Some("driver")]);
        assert_eq!(kinds[0].demand_doubles(), [2.0, 4.0]);
        assert_eq!(kinds[0].demand_units(ResourceId(0)), 20, "in tenths");
        assert_eq!([kinds[0], kinds[1]].map(|kind| kind.can_use(ClassId(0))), [false, true]);
        assert_eq!(kinds[1].user().id(), "bundle");
        let task = after.kinds().next().unwrap();
        assert_eq!((task.id(), task.each(), task.demand_doubles()), (None, 1, &[3.0, 0.0][..]));
    }

    #[test]
    fn a_kind_that_needs_what_no_server_has_is_named() {
        let mut builder = InstanceBuilder::new("", vec!["cpu".into(), "gpu".into()]).unwrap();
        builder.class(ServerClass::new("cpus", 2, decimals(&["10", "0"]))).unwrap();
        let kinds = [kind("driver", 1, &["1", "0"]), kind("worker", 4, &["0.5", "2"])];
        builder.user_with_kinds(user("u"), &kinds).unwrap();
        let told = builder.build().unwrap_err().to_string();
        let expected = "users[0].kinds[1].demand.gpu = 2: no server has any gpu; add servers with gpu or drop the demand";
        assert_eq!(told, expected);
    }

    #[test]
    fn a_single_kind_of_one_piece_is_a_user_without_kinds() {
        let mut builder = builder();
        builder.user_with_kinds(user("u"), &[kind("task", 1, &["1", "1"])]).unwrap();
        let instance = builder.build().unwrap();
        assert!(!instance.has_kinds());
        assert_eq!(instance.user(UserId(0)).demand(), decimals(&["1", "1"]));
    }

    #[test]
    fn what_is_wrong_with_kinds_names_the_kind_and_the_field() {
        let told = |kinds: &[NewKind]| builder().user_with_kinds(user("u"), kinds).unwrap_err().to_string();
        let good = || kind("a", 2, &["1", "0"]);
        assert_eq!(told(&[]), "users[0].kinds: name at least one kind, or give the user a demand");
        assert_eq!(
            told(&[good(), good()]),
            "users[0].kinds[1].id = a: another kind of this user has this id"
        );
        assert_eq!(
            told(&[NewKind { each: 0, ..good() }]),
            "users[0].kinds[0].each = 0: must be from 1 to 1000000000; leave the kind out if there are none"
        );
        assert!(told(&[NewKind { each: 1_000_000_001, ..good() }]).starts_with("users[0].kinds[0].each"));
        assert_eq!(
            told(&[good(), kind("b", 1, &["0", "0"])]),
            "users[0].kinds[1].demand: a piece must need some resource"
        );
        assert_eq!(
            told(&[kind("a", 1, &["1e15", "0"]), kind("b", 999_999_999, &["1e-15", "0"])]),
            "users[0].kinds: the cpu that a task needs of all kinds has more than 19 significant digits; round it"
        );
    }
}
