//! What can be bought: types of servers, each with its price, and which users may run on them.

use super::Commitment;
use crate::model::MOST_DEVICES;
use crate::wording::no_such;
use crate::{ClassId, Decimal, Draft, Instance, Quota, ResourceId, ServerClass, Violation};
use std::collections::HashSet;

/// A type of server as a catalog states it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Offer {
    /// Unique name. That of a server class of the instance means more servers of that class.
    pub id: String,
    /// One server's capacity, one entry a resource; may be left out where `id` or `like` names a class.
    pub capacity: Option<Vec<Decimal>>,
    /// The price of one server (> 0), in the unit of all other prices; on demand, for a period, where there is a commitment.
    pub price: Decimal,
    /// The price a period of one server that is reserved, and for how many periods.
    pub commitment: Option<(Decimal, u64)>,
    /// The most that can be bought; `None` is any number.
    pub limit: Option<u64>,
    /// The class as which users treat such servers: who may run there, and at which rates. Without one, every user runs
    /// there that is not restricted to certain classes.
    pub like: Option<String>,
}

/// A type of server that can be bought.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerType {
    /// Unique name.
    pub id: String,
    /// One server's capacity, one entry a resource.
    pub capacity: Vec<Decimal>,
    /// The price of one server (> 0).
    pub price: Decimal,
    /// What it costs when it is reserved.
    pub commitment: Option<Commitment>,
    /// The most that can be bought; `None` is any number.
    pub limit: Option<u64>,
    /// The class of the instance that grows; `None`: the type becomes a class of its own.
    pub more_of: Option<ClassId>,
    /// The class as which users treat these servers.
    pub like: Option<ClassId>,
}

/// What can be bought for one instance.
#[derive(Clone, Debug, PartialEq)]
pub struct Catalog {
    /// Its name (may be empty).
    pub name: String,
    /// What prices are counted in, such as `EUR a month` (may be empty).
    pub currency: String,
    /// The types, in the order of the file.
    pub types: Vec<ServerType>,
}

impl Catalog {
    /// The catalog of these offers for `instance`, or the first that breaks a rule (`server_types[2].price`).
    pub fn new(
        instance: &Instance,
        name: String,
        currency: String,
        offers: Vec<Offer>,
    ) -> Result<Self, Violation> {
        if offers.is_empty() {
            return Err(Violation::new(
                "server_types",
                "",
                "there is nothing to buy; state types with prices",
            ));
        }
        let mut types: Vec<ServerType> = Vec::new();
        let mut ids = HashSet::new();
        for (position, offer) in offers.into_iter().enumerate() {
            let place = |field: &str| format!("server_types[{position}].{field}");
            if offer.id.is_empty() {
                return Err(Violation::new(place("id"), "", "a server type needs an id"));
            }
            if !ids.insert(offer.id.clone()) {
                return Err(Violation::new(place("id"), &offer.id, "duplicate id"));
            }
            if offer.price.is_zero() {
                return Err(Violation::new(place("price"), offer.price, Violation::ABOVE_ZERO));
            }
            let commitment = offer.commitment.map(|(price, periods)| {
                Commitment::new(price, periods, offer.price).map_err(|violation| Violation {
                    place: place(&format!("commitment.{}", violation.place)),
                    ..violation
                })
            });
            let commitment = commitment.transpose()?;
            let more_of = instance.class_named(&offer.id);
            let like = match &offer.like {
                None => more_of,
                Some(name) => Some(instance.class_named(name).ok_or_else(|| {
                    let known = instance.classes().iter().map(|class| class.id.as_str());
                    Violation::new(place("like"), name, no_such("server class", name, known))
                })?),
            };
            if more_of.is_some() && like != more_of {
                let problem = "is a class of the instance, which is treated like itself; leave `like` out";
                return Err(Violation::new(place("id"), &offer.id, problem));
            }
            let known = like.map(|class| &instance.classes()[class.0].capacity);
            let capacity = match (offer.capacity, known) {
                (Some(capacity), Some(own)) if more_of.is_some() && capacity != *own => {
                    let problem = "the class of this id has another capacity; choose another id";
                    return Err(Violation::new(place("capacity"), "", problem));
                }
                (Some(capacity), _) => capacity,
                (None, Some(known)) => known.clone(),
                (None, None) => {
                    let problem = "must be given, since no server class has this id";
                    return Err(Violation::new(place("capacity"), "", problem));
                }
            };
            if capacity.iter().all(|amount| amount.is_zero()) {
                return Err(Violation::new(place("capacity"), "", "a server must have some resource"));
            }
            let (id, price, limit) = (offer.id, offer.price, offer.limit);
            types.push(ServerType { id, capacity, price, commitment, limit, more_of, like });
        }
        let catalog = Self { name, currency, types };
        catalog.check_devices(instance)?;
        Ok(catalog)
    }

    /// Checks that new servers have whole devices of what consists of devices in `instance`.
    ///
    /// # Errors
    /// The first type that has not, by its position (`server_types[2].capacity.gpu`).
    pub fn check_devices(&self, instance: &Instance) -> Result<(), Violation> {
        for (position, kind) in self.types.iter().enumerate().filter(|(_, kind)| kind.more_of.is_none()) {
            let Err((resource, size)) = devices(instance, kind) else { continue };
            let name = &instance.resources()[resource.0];
            let problem = format!(
                "type {} has no whole number of devices, or more than {MOST_DEVICES}: each device has {size} {name} here; correct the amount",
                kind.id
            );
            let place = format!("server_types[{position}].capacity.{name}");
            return Err(Violation::new(place, kind.capacity[resource.0], problem));
        }
        Ok(())
    }

    /// Checks that it is known in which domain new servers are, which whole tasks ask where `instance` has rules over domains.
    ///
    /// # Errors
    /// The first type of which it is not, by its position (`server_types[2].like`).
    pub fn check_domains(&self, instance: &Instance) -> Result<(), Violation> {
        if instance.domains().is_empty() || !instance.has_rules_between_servers() {
            return Ok(());
        }
        let Some(position) = self.types.iter().position(|kind| kind.like.is_none()) else { return Ok(()) };
        let problem = format!(
            "type {} is in no domain, and server classes are; name as its `like` the class whose domain it takes",
            self.types[position].id
        );
        Err(Violation::new(format!("server_types[{position}].like"), "", problem))
    }

    /// The same servers with less: what the system and the pods of each node take off those that are bought, one entry a resource.
    /// Types that are a class of the instance stay as they are, since the class is what is left of its servers already.
    ///
    /// # Errors
    /// A type that has not so much, by its position.
    pub fn less(mut self, overhead: &[Decimal], resources: &[String]) -> Result<Self, Violation> {
        for (position, kind) in self.types.iter_mut().enumerate().filter(|(_, kind)| kind.more_of.is_none()) {
            for ((amount, taken), name) in kind.capacity.iter_mut().zip(overhead).zip(resources) {
                // A server without a resource has nobody on it who takes any.
                if amount.is_zero() {
                    continue;
                }
                let unit = amount.exponent().min(taken.exponent());
                let left = amount
                    .scaled(unit)
                    .zip(taken.scaled(unit))
                    .and_then(|(all, taken)| all.checked_sub(taken));
                let left = left.and_then(|left| Decimal::from_units(left, unit.into()).ok());
                *amount = left.ok_or_else(|| {
                    let place = format!("server_types[{position}].capacity.{name}");
                    Violation::new(
                        place,
                        *amount,
                        format!("a server of this type has not the {taken} that are taken off each"),
                    )
                })?;
            }
        }
        Ok(self)
    }

    /// Whether prices are of a period, on demand beside reserved, for some type.
    pub fn has_commitments(&self) -> bool {
        self.types.iter().any(|kind| kind.commitment.is_some())
    }

    /// Whose quotas are over some classes and count servers of a type too, since the class that it is like is one of them: `group research`.
    pub fn counted_by(&self, instance: &Instance, kind: &ServerType) -> Vec<String> {
        let Some(like) = kind.like.filter(|_| kind.more_of.is_none()) else { return Vec::new() };
        let counts = |quota: &Quota| quota.over_classes().any(|over| over.classes.contains(&like));
        let owners = instance.quotas().iter().filter(|(_, quota)| counts(quota));
        owners.map(|(owner, _)| instance.name_of(*owner)).collect()
    }

    /// What so many servers of each type cost.
    pub fn cost(&self, counts: &[u64]) -> f64 {
        self.types.iter().zip(counts).map(|(kind, count)| kind.price.to_f64() * *count as f64).sum()
    }

    /// The cluster with so many servers of each type more. Types that are no class of the instance follow its classes,
    /// in the order of the catalog; those of which there are none only where `all` asks for them. They have whole devices of what
    /// consists of devices, are in the domain of the class that they are like, and are in whatever list of classes names that one: where users
    /// may run, and over which classes something is guaranteed, limited or reserved. Where a type is like none, and no rule asks for
    /// domains, nothing is said of them any more.
    pub fn added_to(&self, instance: &Instance, counts: &[u64], all: bool) -> Draft {
        let mut draft = Draft::from(instance);
        for (kind, count) in self.types.iter().zip(counts) {
            match kind.more_of {
                Some(class) => {
                    let class = &mut draft.classes[class.0];
                    class.set_count(class.count.saturating_add(*count));
                }
                None if all || *count > 0 => {
                    let position = draft.classes.len();
                    let (id, capacity) = (kind.id.clone(), kind.capacity.clone());
                    let mut class = ServerClass::new(id, *count, capacity);
                    class.devices = devices(instance, kind).unwrap_or_default();
                    class.domain = kind.like.and_then(|like| instance.classes()[like.0].domain.clone());
                    draft.classes.push(class);
                    let Some(like) = kind.like else { continue };
                    for user in &mut draft.users {
                        let of_kinds = user.kinds.iter_mut().filter_map(|kind| kind.eligible.as_mut());
                        for eligible in user.eligible.iter_mut().chain(of_kinds) {
                            if eligible.contains(&like.0) {
                                eligible.push(position);
                            }
                        }
                        if let Some((_, rate)) = user.rates.iter().find(|(class, _)| *class == like.0) {
                            user.rates.push((position, *rate));
                        }
                    }
                    for over in draft.quotas.iter_mut().flat_map(|owned| owned.quota.over_classes_mut()) {
                        if over.classes.contains(&like) {
                            over.classes.push(ClassId(position));
                        }
                    }
                }
                None => {}
            }
        }
        if !instance.has_rules_between_servers() && draft.classes.iter().any(|class| class.domain.is_none()) {
            draft.classes.iter_mut().for_each(|class| class.domain = None);
        }
        draft
    }
}

/// How many devices of each resource a new server has: all devices of a resource have one size. Where the class that it is like has an
/// amount and no devices of it, it has none either.
///
/// # Errors
/// A resource of which it has no whole number of devices, and their size.
fn devices(instance: &Instance, kind: &ServerType) -> Result<Vec<(ResourceId, u64)>, (ResourceId, Decimal)> {
    let mut all = Vec::new();
    for resource in (0..kind.capacity.len()).map(ResourceId) {
        let (Some(size), amount) = (instance.device_size(resource), kind.capacity[resource.0]) else {
            continue;
        };
        let has_none = |like: ClassId| {
            let class = &instance.classes()[like.0];
            !class.capacity[resource.0].is_zero() && class.devices_of(resource).is_none()
        };
        if amount.is_zero() || kind.like.is_some_and(has_none) {
            continue;
        }
        let exponent = size.exponent().min(amount.exponent());
        let units = size.scaled(exponent).zip(amount.scaled(exponent));
        let count = units.filter(|(size, amount)| *size > 0 && amount.is_multiple_of(*size));
        let count = count.and_then(|(size, amount)| u64::try_from(amount / size).ok());
        let count = count.filter(|count| *count <= MOST_DEVICES).ok_or((resource, size))?;
        all.push((resource, count));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::drfh_fig1;
    use crate::{ClassAmounts, DraftQuota};

    fn offer(id: &str) -> Offer {
        let capacity = Some(vec![Decimal::ONE; 2]);
        Offer { id: id.into(), capacity, price: Decimal::ONE, ..Offer::default() }
    }

    fn refused(offers: Vec<Offer>) -> String {
        let instance = drfh_fig1().unwrap();
        Catalog::new(&instance, String::new(), String::new(), offers).unwrap_err().to_string()
    }

    #[test]
    fn a_catalog_that_says_nothing_or_contradicts_the_instance_is_refused_with_its_place() {
        assert!(refused(vec![]).starts_with("server_types: there is nothing to buy"));
        assert!(refused(vec![offer("a"), offer("a")]).contains("server_types[1].id = a: duplicate id"));
        assert!(
            refused(vec![Offer { price: Decimal::ZERO, ..offer("a") }]).contains("price = 0: must be > 0")
        );
        assert!(refused(vec![offer("high-cpu")]).contains("has another capacity"));
        assert!(
            refused(vec![Offer { like: Some("x".into()), ..offer("a") }]).contains("like = x: there is no")
        );
        assert!(refused(vec![Offer { capacity: None, ..offer("a") }]).contains("must be given"));
    }

    #[test]
    fn servers_like_a_class_are_open_to_its_users_and_others_to_the_unrestricted() {
        let mut draft = Draft::from(&drfh_fig1().unwrap());
        draft.users[0].eligible = Some(vec![0]);
        draft.users[0].rates = vec![(0, "2".parse().unwrap())];
        let instance = draft.build().unwrap();
        let like = Offer { like: Some("high-memory".into()), ..offer("like") };
        let more = Offer { id: "high-cpu".into(), capacity: None, ..offer("") };
        let catalog =
            Catalog::new(&instance, String::new(), String::new(), vec![offer("new"), like, more]).unwrap();
        let bought = catalog.added_to(&instance, &[1, 2, 3], false);
        let counts: Vec<u64> = bought.classes.iter().map(|class| class.count).collect();
        assert_eq!(counts, [1, 4, 1, 2]);
        assert_eq!(bought.users[0].eligible, Some(vec![0, 3]));
        assert_eq!(bought.users[0].rates.len(), 2);
        assert_eq!(bought.users[1].eligible, None);
        assert_eq!(catalog.added_to(&instance, &[0, 0, 1], false).classes.len(), 2);
        assert_eq!(catalog.cost(&[1, 2, 3]), 6.0);
        let overhead = ["0.25", "0"].map(|amount| amount.parse().unwrap());
        let less = catalog.clone().less(&overhead, instance.resources()).unwrap();
        let left = |t: usize| less.types[t].capacity[0].to_string();
        assert_eq!([left(0), left(1)], ["0.75", "0.75"]);
        assert_eq!(less.types[2], catalog.types[2], "a class is what is left of its servers already");
        let overhead = ["1.5", "0"].map(|amount| amount.parse().unwrap());
        let refused = catalog.less(&overhead, instance.resources()).unwrap_err().to_string();
        assert!(
            refused.contains("server_types[0].capacity.cpu = 1: a server of this type has not the 1.5"),
            "{refused}"
        );
    }
    #[test]
    fn servers_like_a_class_are_in_every_list_of_classes_that_names_it() {
        let over = |classes: &[usize]| ClassAmounts {
            classes: classes.iter().copied().map(ClassId).collect(),
            amounts: vec![(ResourceId(0), Decimal::ONE)],
        };
        let mut draft = Draft::from(&drfh_fig1().unwrap());
        let owner = draft.users[0].id.clone();
        let quota = Quota {
            guarantees: vec![over(&[0]), over(&[1])],
            limits: vec![over(&[0, 1])],
            reserves: vec![over(&[1])],
            ..Quota::default()
        };
        draft.quotas.push(DraftQuota { is_group: false, owner: owner.clone(), quota });
        let instance = draft.build().unwrap();
        let like = Offer { like: Some("high-memory".into()), ..offer("like") };
        let catalog =
            Catalog::new(&instance, String::new(), String::new(), vec![like, offer("other")]).unwrap();
        let bought = catalog.added_to(&instance, &[1, 1], false).build().unwrap();
        let classes = |of: &[ClassAmounts]| -> Vec<Vec<usize>> {
            of.iter().map(|over| over.classes.iter().map(|class| class.0).collect()).collect()
        };
        let quota = &bought.quotas()[0].1;
        assert_eq!(classes(&quota.guarantees), [vec![0, 2], vec![1]]);
        assert_eq!((classes(&quota.limits), classes(&quota.reserves)), (vec![vec![0, 1, 2]], vec![vec![1]]));
        assert_eq!(catalog.counted_by(&instance, &catalog.types[0]), [format!("user {owner}")]);
        assert!(catalog.counted_by(&instance, &catalog.types[1]).is_empty());
    }
}
