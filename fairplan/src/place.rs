//! Whole tasks onto servers: by a policy, or by the patterns behind the whole-task bound; recounted by the checker.

use crate::bound::best_found;
use crate::counted::CountedInstance;
use crate::error::all_hold;
use crate::{Control, Error};
use fairplan_heuristics::{
    DEVICE_POLICIES, InOrder, OutsidePolicy, PlacementError, PlacementPolicy, device_policy, policy,
};
use fairplan_instances::{
    Entry, Instance, Placement, PlacementFigures, Registry, ServerTasks, Solution, UserId, files,
};
use fairplan_report::placement::{PlacementDocument, PlacementSettings, ServerResults, placement_document};
use fairplan_verify::{PlacementClaim, verify_placement};

/// By which policy to place.
#[derive(Clone, Debug)]
pub struct PlaceOptions {
    /// One of [`POLICIES`](crate::POLICIES), [`DEVICE_POLICIES`](crate::DEVICE_POLICIES) or [`PATTERNS`]. Default: `best-fit`.
    pub policy: String,
    /// Seed of the policy `random` and of the policies that look at devices. Default: 0.
    pub seed: u64,
    /// A policy in another process, which is asked instead of `policy`. Default: none.
    pub command: Option<OutsidePolicy>,
}

impl Default for PlaceOptions {
    fn default() -> Self {
        Self { policy: "best-fit".into(), seed: 0, command: None }
    }
}

impl PlaceOptions {
    /// Refuses what cannot be meant, whatever the instance.
    pub fn check(&self) -> Result<(), Error> {
        self.placer().map(drop)
    }

    /// The policy, as results call it.
    ///
    /// # Errors
    /// What cannot be meant, whatever the instance.
    pub fn name(&self) -> Result<String, Error> {
        self.placer().map(|placer| placer.name())
    }

    fn placer(&self) -> Result<Placer, Error> {
        match &self.command {
            Some(command) => Ok(Placer::outside(command)),
            None => Placer::named(&self.policy, self.seed),
        }
    }
}

/// A placement that was recounted.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The policy, as results call it.
    pub policy: String,
    /// The seed that it could draw on.
    pub seed: u64,
    /// Tasks on servers.
    pub placement: Placement,
    /// What they come to.
    pub figures: PlacementFigures,
    /// How members of groups would divide what these are guaranteed, where the level counts that.
    pub divisions: Vec<Solution>,
    /// The SHA-256 of the instance.
    pub sha256: String,
}

impl Placed {
    /// What runs where now, placed by `policy`, as it was found: nothing is checked, and levels count no guarantees of groups beyond those of
    /// their members.
    ///
    /// ```
    /// use fairplan::{PlaceOptions, Control, Placed, generate, place};
    ///
    /// let instance = generate::drfh_fig1()?;
    /// let found = place(&instance, &PlaceOptions::default(), &Control::none())?.placement;
    /// let present = Placed::present(&instance, found, "kubernetes");
    /// assert_eq!(present.policy, "kubernetes");
    /// # Ok::<(), fairplan::Error>(())
    /// ```
    pub fn present(instance: &Instance, placement: Placement, policy: &str) -> Self {
        Self {
            policy: policy.into(),
            seed: 0,
            figures: PlacementFigures::new(instance, &placement),
            divisions: Vec::new(),
            sha256: files::sha256_hex(instance),
            placement,
        }
    }

    /// The `fairplan.placement.v1`; with `servers` it lists the tasks on each server, without which it cannot be verified.
    pub fn document<'a>(
        &'a self,
        instance: &'a Instance,
        servers: bool,
    ) -> PlacementDocument<ServerResults<'a>> {
        let settings =
            PlacementSettings { policy: &self.policy, seed: self.seed, servers, divisions: &self.divisions };
        placement_document(instance, &self.placement, &self.figures, &self.sha256, settings)
    }
}

/// Places whole tasks on servers until nothing more fits; the user with the smallest weighted dominant share is next. Limits and
/// reserves are kept, and who is below what it is guaranteed comes before all others. The value and the level count what users are guaranteed, and
/// what members of groups have of what these are guaranteed beyond that, if they divide it alone: that is solved for once tasks are placed. Of a user with kinds the pieces of a task are placed
/// one by one, always of the kind that is furthest behind; if one finds no room, none of the task's pieces stays, and the user has no
/// more.
///
/// A policy that is not done by the deadline has no placement: [`Error::TimeLimit`].
///
/// ```
/// use fairplan::{Control, PlaceOptions, generate, place};
///
/// let instance = generate::drfh_fig4(&[1, 2, 3])?;
/// let options = PlaceOptions { policy: "first-fit".into(), ..PlaceOptions::default() };
/// let placed = place(&instance, &options, &Control::none())?;
/// assert!(placed.figures.value > 0.2);
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn place(instance: &Instance, options: &PlaceOptions, control: &Control<'_>) -> Result<Placed, Error> {
    place_by(instance, &options.placer()?, options, control)
}

/// Places tasks in the order in which they come, each where there is room when it comes: the server of each, counted class by
/// class. How many tasks users have does not count, though some policies expect so many of each.
///
/// ```
/// use fairplan::{Control, PlaceOptions, UserId, generate, place_in_order};
///
/// let (instance, options) = (generate::drfh_fig1()?, PlaceOptions::default());
/// let servers = place_in_order(&instance, &options, &[UserId(0), UserId(1)], &Control::none())?;
/// assert!(servers.iter().all(Option::is_some));
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn place_in_order(
    instance: &Instance,
    options: &PlaceOptions,
    order: &[UserId],
    control: &Control<'_>,
) -> Result<Vec<Option<usize>>, Error> {
    instance.without_kinds("place in an order that is given")?;
    instance.without_quotas("place")?;
    let Placer::Policy(policy) = options.placer()? else {
        return Err(Error::Setting(format!("policy {} does not place tasks as they come", options.policy)));
    };
    let asked = InOrder { instance, order, deadline: &control.deadline };
    let servers = policy.place_in_order(asked)?;
    let placement = gathered(instance, order, &servers);
    let mut verdicts = verify_placement(instance, &PlacementClaim::from(&placement));
    verdicts.retain(|verdict| verdict.property != "task-limits");
    all_hold(format!("the placement of policy {} fails its check", policy.name()), &verdicts)?;
    Ok(servers)
}

/// The placement of tasks that came one by one, of which [`place_in_order`] says the servers.
pub fn gathered(instance: &Instance, order: &[UserId], servers: &[Option<usize>]) -> Placement {
    let mut placement = Placement {
        tasks: vec![0; instance.user_count()],
        servers: vec![ServerTasks::new(); instance.server_count() as usize],
    };
    for (user, server) in order.iter().zip(servers).filter_map(|(user, server)| Some((user, (*server)?))) {
        placement.tasks[user.0] += 1;
        let there = &mut placement.servers[server];
        match there.binary_search_by_key(&(user.0 as u32), |(other, _)| *other) {
            Ok(at) => there[at].1 += 1,
            Err(at) => there.insert(at, (user.0 as u32, 1)),
        }
    }
    placement
}

/// The same by any placer, whatever policy the options name.
///
/// ```
/// use fairplan::{Control, PlaceOptions, Placer, generate, place_by};
///
/// let instance = generate::drfh_fig1()?;
/// let placed = place_by(&instance, &Placer::Pattern, &PlaceOptions::default(), &Control::none())?;
/// assert_eq!(placed.policy, "pattern");
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn place_by(
    instance: &Instance,
    placer: &Placer,
    options: &PlaceOptions,
    control: &Control<'_>,
) -> Result<Placed, Error> {
    let placement = placer.place(instance, control)?;
    let counted = CountedInstance::of(instance, control);
    Ok(Placed {
        policy: placer.name(),
        seed: options.seed,
        figures: counted.figures(&placement),
        divisions: counted.divisions,
        sha256: files::sha256_hex(instance),
        placement,
    })
}

/// What places whole tasks beside the policies.
pub const PATTERNS: Registry<()> = Registry::new(
    "policy",
    &[Entry {
        name: "pattern",
        line: "whole servers at once, proved optimal or nearly so (see `fairplan bound`)",
        make: (),
    }],
);

/// How whole tasks are placed.
pub enum Placer {
    /// One task at a time.
    Policy(Box<dyn PlacementPolicy>),
    /// One task at a time, by a policy in another process.
    Outside(OutsidePolicy),
    /// The placement that `bound` brackets the optimum with. Patterns know what is inside servers. Of gangs, of spread and of quotas they
    /// know nothing: what these rules leave of the patterns is filled up by best-fit, and the best of that and of the policies' placements
    /// is taken; where something is guaranteed, of the policies' alone.
    Pattern,
}

impl Placer {
    /// The one called `name`. Only `random` and the policies that look at devices draw on `seed`.
    pub fn named(name: &str, seed: u64) -> Result<Self, Error> {
        if PATTERNS.find(name).is_ok() {
            return Ok(Self::Pattern);
        }
        if let Ok(policy) = device_policy(name, seed) {
            return Ok(Self::Policy(policy));
        }
        let unknown = |unknown: PlacementError| unknown.among(&PATTERNS).among(&DEVICE_POLICIES);
        Ok(Self::Policy(policy(name, seed).map_err(unknown)?))
    }

    /// A policy in another process.
    pub(crate) fn outside(command: &OutsidePolicy) -> Self {
        Self::Outside(command.clone())
    }

    /// Its name in results.
    pub fn name(&self) -> String {
        match self {
            Self::Policy(policy) => policy.name(),
            Self::Outside(policy) => policy.name(),
            Self::Pattern => PATTERNS.entries()[0].name.into(),
        }
    }

    /// Places, and recounts the placement by code that shares nothing with it.
    pub(crate) fn place(&self, instance: &Instance, control: &Control<'_>) -> Result<Placement, Error> {
        control.stage("placing");
        let placement = match self {
            Self::Policy(policy) => policy.place_within(instance, &control.deadline)?,
            Self::Outside(policy) => policy.place_within(instance, &control.deadline)?,
            Self::Pattern => by_patterns(instance, control)?,
        };
        let verdicts = verify_placement(instance, &PlacementClaim::from(&placement));
        let what = format!("the placement of policy {} fails its check", self.name());
        all_hold(what, &verdicts).map(|()| placement)
    }
}

/// The placement that brackets the optimum. It says so if time ended the search.
fn by_patterns(instance: &Instance, control: &Control<'_>) -> Result<Placement, Error> {
    let deadline = control.deadline.watched();
    // A placement needs no proof of what others can reach.
    let bracket = best_found(instance, &|_, _| Vec::new(), &control.until(deadline.clone()))?;
    if !bracket.is_closed && deadline.has_cut() {
        control.note(
            "time was over before patterns were found for all servers: the placement is the best by then",
        );
    }
    Ok(bracket.placement)
}
