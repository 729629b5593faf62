//! What whole tasks meet between servers: gangs, of which all tasks run at once or none, and domains (racks, zones), within one
//! of which a gang may have to be, or over which tasks may have to be spread.
//!
//! The running tasks of a user with a gang of `g` are a multiple of `g`; where each gang is within one domain, they are a multiple of
//! `g` in every domain. The tasks of a user with a spread of `s` differ by at most `s` between any two of the domains that it may
//! run in, which are those with a server of an eligible class, whether it has room or not. Divided tasks know nothing of
//! this.
//!
//! Of a user with kinds a gang is so many whole tasks, all their pieces in one domain where that is asked for, and what is spread are
//! the pieces of each kind over the domains of that kind: as pod groups start as a whole and each template of pods has its own spread.

use super::{ClassId, DomainId, Instance, InstanceBuilder, Kind, ResourceId, ServerClass, User, UserId};
use crate::violation::Violation;

/// So many tasks of a user at once, or none of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gang {
    /// How many tasks, at least 2.
    pub tasks: u64,
    /// Whether all of them run in one domain.
    pub in_one_domain: bool,
}

/// The rules between servers of one user.
#[derive(Clone, Copy, Default)]
struct OfUser {
    gang: Option<Gang>,
    spread: Option<u64>,
}

/// The rules between servers, of instances that have any.
#[derive(Clone, Default)]
pub(super) struct BetweenServers(Vec<OfUser>);

/// The domains of an instance.
#[derive(Clone, Default)]
pub(super) struct Domains {
    /// Their names, in the order in which classes name them.
    names: Vec<String>,
    /// That of each class; empty where there are no domains.
    of_class: Vec<DomainId>,
}

impl Instance {
    /// The names of all domains, in the order in which classes name them; none where classes are in no domain.
    pub fn domains(&self) -> &[String] {
        &self.domains.names
    }

    /// The domain that the servers of a class are in.
    pub fn domain_of(&self, class: ClassId) -> Option<DomainId> {
        self.domains.of_class.get(class.0).copied()
    }

    /// Whether there are rules between servers: users with gangs, or whose tasks are spread over domains.
    pub fn has_rules_between_servers(&self) -> bool {
        self.between_servers.is_some()
    }

    /// For what knows the rules inside servers and none between them.
    ///
    /// # Errors
    /// If there are such rules, naming the first; `what` asks.
    pub fn without_rules_between_servers(&self, what: &str) -> Result<(), Violation> {
        self.without_gangs(what)?;
        let spread = self.users().find_map(|user| Some((user, user.spread()?)));
        let Some((user, most)) = spread.filter(|_| self.has_rules_between_servers()) else { return Ok(()) };
        let problem = format!("{what} does not know how tasks are spread yet; leave it out");
        Err(Violation::new(format!("users[{}].spread", user.index().0), most, problem))
    }

    /// For what knows all rules but gangs.
    ///
    /// # Errors
    /// If there is one, naming the first; `what` asks.
    pub fn without_gangs(&self, what: &str) -> Result<(), Violation> {
        if !self.has_rules_between_servers() {
            return Ok(());
        }
        let Some((user, gang)) = self.users().find_map(|user| Some((user, user.gang()?))) else {
            return Ok(());
        };
        let problem = format!("{what} does not know gangs yet; leave it out");
        Err(Violation::new(format!("users[{}].gang", user.index().0), gang.tasks, problem))
    }

    /// Finds the domains, and checks that all classes are in one or none is, that who needs domains has some, and that each gang has
    /// room on the servers by which shares are measured when nothing else runs: variants of a cluster may have fewer.
    pub(super) fn settle_domains(&mut self) -> Result<(), Violation> {
        if let Some(named) = self.classes.iter().find(|class| class.domain.is_some()) {
            let Domains { names, of_class } = &mut self.domains;
            for (position, class) in self.classes.iter().enumerate() {
                let Some(domain) = &class.domain else {
                    let problem = format!(
                        "missing, and class {} is in one; say of every class in which domain it is, or of none",
                        named.id
                    );
                    return Err(Violation::new(format!("server_classes[{position}].domain"), "", problem));
                };
                let found = names.iter().position(|name| name == domain);
                of_class.push(DomainId(found.unwrap_or_else(|| {
                    names.push(domain.clone());
                    names.len() - 1
                })));
            }
        }
        if !self.has_rules_between_servers() {
            return Ok(());
        }
        self.users().try_for_each(|user| self.check_rules_of(user))
    }

    fn check_rules_of(&self, user: User<'_>) -> Result<(), Violation> {
        let place = |field: &str| format!("users[{}].{field}", user.index().0);
        let without_domains = "no server class is in a domain; name that of each class as its `domain`";
        if let Some(most) = user.spread().filter(|_| self.domains().is_empty()) {
            return Err(Violation::new(place("spread"), most, without_domains));
        }
        let Some(gang) = user.gang() else { return Ok(()) };
        if gang.in_one_domain && self.domains().is_empty() {
            return Err(Violation::new(place("gang_in_domain"), "true", without_domains));
        }
        let pieces = gang.tasks.saturating_mul(user.kinds().map(Kind::each).max().unwrap_or(1));
        if let Some(most) = user.spread().filter(|most| gang.in_one_domain && *most < pieces) {
            let problem = format!(
                "a gang of {pieces} in one domain makes the domains differ by as much; use a larger spread, or leave out one of them"
            );
            return Err(Violation::new(place("spread"), most, problem));
        }
        if let Some(tasks) = user.tasks().filter(|tasks| (1..gang.tasks).contains(tasks)) {
            let problem =
                format!("the user has {tasks} tasks, so that none of them could run; make the gang smaller");
            return Err(Violation::new(place("gang"), gang.tasks, problem));
        }
        let most = user.held_alone(gang.in_one_domain);
        if most < gang.tasks {
            let (where_to, at_once) = match gang.in_one_domain {
                true => ("each domain", "in one domain"),
                false => ("the cluster", "at once"),
            };
            let problem = format!(
                "more than {where_to} holds: at most {most} tasks of the user run {at_once}; make it smaller"
            );
            return Err(Violation::new(place("gang"), gang.tasks, problem));
        }
        Ok(())
    }
}

impl User<'_> {
    fn between_servers(self) -> OfUser {
        let rules = self.instance.between_servers.as_ref();
        rules.and_then(|rules| rules.0.get(self.id.0)).copied().unwrap_or_default()
    }

    /// How many of the user's tasks run at once or not at all, where it has kinds with all their pieces; `None`: each runs for itself.
    pub fn gang(self) -> Option<Gang> {
        self.between_servers().gang
    }

    /// How many of the user's tasks start at once: those of a gang, or one.
    pub fn at_once(self) -> u64 {
        self.gang().map_or(1, |gang| gang.tasks)
    }

    /// By how many the user's tasks in two domains differ at most, where it has kinds the pieces of each; `None` is any number.
    pub fn spread(self) -> Option<u64> {
        self.between_servers().spread
    }

    /// How many tasks of the user run at once where nothing else does, on all servers or on those of the domain that holds most;
    /// counted on the servers by which shares are measured. Of a user with kinds it is an upper bound: each kind is counted as if it were there alone,
    /// and all together by what they take of all there is.
    pub fn held_alone(self, in_one_domain: bool) -> u64 {
        let domains = if in_one_domain { self.instance.domains().len() } else { 1 };
        let in_domain = |domain: usize| {
            let inside = || {
                let classes = (0..self.instance.classes.len()).map(ClassId);
                classes.filter(|class| {
                    !in_one_domain || self.instance.domain_of(*class) == Some(DomainId(domain))
                })
            };
            let of_kind = |kind: Kind<'_>| {
                inside().map(|class| kind.held_on_class(class)).fold(0, u64::saturating_add) / kind.each()
            };
            let by_kind = self.kinds().map(of_kind).min().unwrap_or(0);
            if self.has_kinds() { by_kind.min(self.held_together(inside())) } else { by_kind }
        };
        (0..domains).map(in_domain).max().unwrap_or(0)
    }

    /// As many tasks of kinds as take no more than all there is on those of these classes where some piece may run.
    fn held_together(self, classes: impl Iterator<Item = ClassId>) -> u64 {
        let instance = self.instance;
        let usable: Vec<&ServerClass> = classes
            .filter(|class| self.kinds().any(|kind| kind.held_on_server(*class) > 0))
            .filter_map(|class| instance.measuring_classes().get(class.0))
            .collect();
        let of_resource = |r: usize| {
            let resource = ResourceId(r);
            let each = |kind: Kind<'_>| kind.piece_units(resource).saturating_mul(kind.each().into());
            let taken = self.kinds().map(each).fold(0, u128::saturating_add);
            let there = |class: &&ServerClass| {
                instance.in_units(resource, class.capacity[r]).saturating_mul(class.count.into())
            };
            let all = usable.iter().map(there).fold(0, u128::saturating_add);
            all.checked_div(taken).unwrap_or(u128::MAX)
        };
        let most = (0..instance.resources.len()).map(of_resource).min().unwrap_or(0);
        u64::try_from(most).unwrap_or(u64::MAX)
    }

    /// The domains with a server that the user's tasks, or pieces of some kind of theirs, may run on, rising.
    pub fn domains(self) -> Vec<DomainId> {
        let mut domains: Vec<DomainId> = self.kinds().flat_map(Kind::domains).collect();
        domains.sort_unstable();
        domains.dedup();
        domains
    }
}

impl Kind<'_> {
    /// How many pieces one server of a class holds where nothing else runs; counted on the servers by which shares are measured.
    pub fn held_on_server(self, class: ClassId) -> u64 {
        let instance = self.user().instance;
        let Some(measured) = instance.measuring_classes().get(class.0) else { return 0 };
        if !self.rule().allows(class) {
            return 0;
        }
        let on_one = (0..instance.resources.len()).map(|r| {
            let resource = ResourceId(r);
            let demand = self.piece_units(resource);
            if demand == 0 {
                return u128::MAX;
            }
            let profile = self.profile().filter(|of| of.resource == resource);
            let devices = measured.devices_of(resource).map(u128::from);
            match (devices.zip(instance.device_units(resource)), profile) {
                (Some((devices, _)), Some(profile)) => {
                    devices * u128::from(instance.most_on_a_device(profile))
                }
                (Some((devices, size)), None) if demand >= size => devices / (demand / size),
                (Some((devices, size)), None) => devices * (size / demand),
                (None, _) => instance.in_units(resource, measured.capacity[r]) / demand,
            }
        });
        let most = self.user().per_server().unwrap_or(u64::MAX);
        u64::try_from(on_one.min().unwrap_or(0)).unwrap_or(u64::MAX).min(most)
    }

    /// The same of all servers of a class.
    fn held_on_class(self, class: ClassId) -> u64 {
        let Some(measured) = self.user().instance.measuring_classes().get(class.0) else { return 0 };
        self.held_on_server(class).saturating_mul(measured.count)
    }

    /// The domains with a server that pieces may run on, rising: those over which they are spread.
    pub fn domains(self) -> Vec<DomainId> {
        let instance = self.user().instance;
        let classes = (0..instance.classes.len()).map(ClassId);
        let usable = classes.filter(|l| instance.classes[l.0].count > 0 && self.rule().allows(*l));
        let mut domains: Vec<DomainId> = usable.filter_map(|class| instance.domain_of(class)).collect();
        domains.sort_unstable();
        domains.dedup();
        domains
    }
}

impl InstanceBuilder {
    /// Lets tasks of a user that was added before run as gangs only. The violation's place starts at the user
    /// (`users[3].gang`).
    pub fn gang(&mut self, user: UserId, gang: Gang) -> Result<(), Violation> {
        if gang.tasks < 2 {
            let problem = "a gang has 2 tasks or more; leave it out where each task runs for itself";
            return Err(Violation::new(format!("users[{}].gang", user.0), gang.tasks, problem));
        }
        self.rules_between_servers(user).gang = Some(gang);
        Ok(())
    }

    /// Sets by how many the tasks in two domains differ at most, of a user that was added before. The violation's place starts at the
    /// user (`users[3].spread`).
    pub fn spread(&mut self, user: UserId, most: u64) -> Result<(), Violation> {
        if most == 0 {
            let problem = "lets no first task run; use 1 or more, or leave it out for any number";
            return Err(Violation::new(format!("users[{}].spread", user.0), most, problem));
        }
        self.rules_between_servers(user).spread = Some(most);
        Ok(())
    }

    fn rules_between_servers(&mut self, user: UserId) -> &mut OfUser {
        let rules = &mut self.instance.between_servers.get_or_insert_default().0;
        if rules.len() <= user.0 {
            rules.resize(user.0 + 1, OfUser::default());
        }
        &mut rules[user.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewUser, PlacementRule};

    /// Two servers of 8 cpu and 4 GPUs in rack 1, one of 8 cpu in rack 2; a user of 2 cpu and so much GPU on both or on
    /// the first.
    fn built(
        gpu: &str,
        set: impl Fn(&mut InstanceBuilder, UserId) -> Result<(), Violation>,
        change: impl Fn(&mut [ServerClass; 2], &mut NewUser<'_>),
    ) -> Result<Instance, String> {
        let mut builder = InstanceBuilder::new("", vec!["cpu".into(), "gpu".into()]).unwrap();
        let mut classes = [
            ServerClass::new("a", 2, vec![8u32.into(), 4u32.into()]),
            ServerClass::new("b", 1, vec![8u32.into(), 0u32.into()]),
        ];
        classes[0].devices = vec![(ResourceId(1), 4)];
        classes[0].domain = Some("rack-1".into());
        classes[1].domain = Some("rack-2".into());
        let demand = [2u32.into(), gpu.parse().unwrap()];
        let mut user = NewUser::new("u", &demand);
        change(&mut classes, &mut user);
        let rule = builder.rule(PlacementRule::default());
        for class in classes {
            builder.class(class).unwrap();
        }
        let added = builder.user(NewUser { rule, ..user }).unwrap();
        set(&mut builder, added).map_err(|violation| violation.to_string())?;
        builder.build().map_err(|violation| violation.to_string())
    }

    fn gang(
        tasks: u64,
        in_one_domain: bool,
    ) -> impl Fn(&mut InstanceBuilder, UserId) -> Result<(), Violation> {
        move |builder, user| builder.gang(user, Gang { tasks, in_one_domain })
    }

    #[test]
    fn gangs_and_spread_are_kept_beside_the_domains_that_classes_name() {
        let set = |builder: &mut InstanceBuilder, user| {
            builder.spread(user, 4)?;
            builder.gang(user, Gang { tasks: 4, in_one_domain: true })
        };
        let instance = built("0", set, |_, _| ()).unwrap();
        assert_eq!(instance.domains(), ["rack-1", "rack-2"]);
        assert_eq!(instance.domain_of(ClassId(1)), Some(DomainId(1)));
        let user = instance.user(UserId(0));
        assert_eq!(user.gang(), Some(Gang { tasks: 4, in_one_domain: true }));
        assert_eq!((user.spread(), user.domains()), (Some(4), vec![DomainId(0), DomainId(1)]));
        assert!(instance.has_server_rules() && instance.has_rules_between_servers());
        let told = instance.without_rules_between_servers("plan buy").unwrap_err().to_string();
        assert_eq!(told, "users[0].gang = 4: plan buy does not know gangs yet; leave it out");
    }

    /// Three of memory hold three pieces of each of two kinds, and one task of both.
    #[test]
    fn a_gang_of_kinds_is_at_most_what_they_take_together() {
        let text = r#"{"format": "fairplan.instance.v1", "resources": ["memory"], "server_classes": [{"id": "c", "count": 1, "capacity": {"memory": 3}}],
            "users": [{"id": "a", "kinds": [{"id": "x", "each": 1, "demand": {"memory": 1}}, {"id": "y", "each": 1, "demand": {"memory": 1}}], "gang": 2}]}"#;
        let refused =
            crate::files::read_json(crate::files::source::in_memory("it", text.into()).unwrap()).unwrap_err();
        let told = "users[0].gang = 2: more than the cluster holds: at most 1 tasks of the user run at once";
        assert!(refused.to_string().contains(told), "{refused}");
    }

    #[test]
    fn a_gang_is_at_most_what_the_empty_cluster_or_one_domain_holds() {
        let keep = |_: &mut [ServerClass; 2], _: &mut NewUser<'_>| ();
        assert!(built("0", gang(12, false), keep).is_ok());
        let told = |gpu, tasks, within| built(gpu, gang(tasks, within), keep).err().unwrap();
        let more = "more than the cluster holds: at most";
        assert_eq!(
            told("0", 13, false),
            format!("users[0].gang = 13: {more} 12 tasks of the user run at once; make it smaller")
        );
        // Two of 0.4 on each GPU, but four by cpu; one of 0.6 on each GPU; a server of two GPUs twice.
        for (gpu, held) in [("0.4", 8), ("0.6", 8), ("2", 4), ("4", 2)] {
            assert!(built(gpu, gang(held, false), keep).is_ok());
            let expected = format!(
                "users[0].gang = {}: {more} {held} tasks of the user run at once; make it smaller",
                held + 1
            );
            assert_eq!(told(gpu, held + 1, false), expected);
        }
        assert!(built("0", gang(8, true), keep).is_ok());
        assert_eq!(
            told("0", 9, true),
            "users[0].gang = 9: more than each domain holds: at most 8 tasks of the user run in one domain; make it smaller"
        );
        let one_a_server = |builder: &mut InstanceBuilder, user| {
            builder.per_server(user, 1)?;
            builder.gang(user, Gang { tasks: 4, in_one_domain: false })
        };
        assert!(built("0", one_a_server, keep).err().unwrap().contains("at most 3 tasks"));
    }

    #[test]
    fn a_variant_with_fewer_servers_is_built_though_a_gang_has_no_room_on_it() {
        let instance = built("0", gang(12, false), |_, _| ()).unwrap();
        let mut draft = crate::Draft::from(&instance).measured_as(&instance);
        draft.classes[0].count = 0;
        assert!(draft.build().is_ok());
        draft.measured_by = None;
        assert!(draft.build().unwrap_err().to_string().contains("at most 4 tasks"));
    }

    #[test]
    fn rules_between_servers_that_cannot_be_are_named_with_place_and_value() {
        let keep = |_: &mut [ServerClass; 2], _: &mut NewUser<'_>| ();
        let none = |classes: &mut [ServerClass; 2], _: &mut NewUser<'_>| {
            classes.iter_mut().for_each(|class| class.domain = None);
        };
        let spread = |most| move |builder: &mut InstanceBuilder, user| builder.spread(user, most);
        let told = |result: Result<Instance, String>| result.err().unwrap();
        assert_eq!(
            told(built("0", gang(1, false), keep)),
            "users[0].gang = 1: a gang has 2 tasks or more; leave it out where each task runs for itself"
        );
        assert_eq!(
            told(built("0", spread(0), keep)),
            "users[0].spread = 0: lets no first task run; use 1 or more, or leave it out for any number"
        );
        let needed = "no server class is in a domain; name that of each class as its `domain`";
        assert_eq!(told(built("0", spread(1), none)), format!("users[0].spread = 1: {needed}"));
        assert_eq!(
            told(built("0", gang(2, true), none)),
            format!("users[0].gang_in_domain = true: {needed}")
        );
        let half = |classes: &mut [ServerClass; 2], _: &mut NewUser<'_>| classes[1].domain = None;
        assert_eq!(
            told(built("0", |_, _| Ok(()), half)),
            "server_classes[1].domain: missing, and class a is in one; say of every class in which domain it is, or of none"
        );
        let few = |_: &mut [ServerClass; 2], user: &mut NewUser<'_>| user.tasks = Some(3);
        assert_eq!(
            told(built("0", gang(4, false), few)),
            "users[0].gang = 4: the user has 3 tasks, so that none of them could run; make the gang smaller"
        );
        let both = |builder: &mut InstanceBuilder, user| {
            builder.spread(user, 3)?;
            builder.gang(user, Gang { tasks: 4, in_one_domain: true })
        };
        assert!(
            told(built("0", both, keep)).starts_with("users[0].spread = 3: a gang of 4 in one domain makes")
        );
    }
}
