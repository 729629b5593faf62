//! Policies on a simulated cluster: who is served next, and who chooses the server.

use super::TraceInput;
use crate::Error;
use fairplan_heuristics::{
    Asked, BestFit, ClusterNames, DEVICE_POLICIES, FailureNote, OutsidePolicy, POLICIES, PlacementError,
    PlacementPolicy, Turn, device_policy, policy,
};
use fairplan_instances::trace::{Register, TraceHeader};
use fairplan_instances::{ClusterOutcome, Entry, Objective, Registry, Solver};
use fairplan_simulation::{
    ClusterRules, ClusterSettings, Present, ServiceOrder, Tenants, Watch, dedicated_clouds, simulate_cluster,
};
use std::time::Duration;

/// Policies that serve whoever is most deprived, and place by best-fit.
pub const MOST_DEPRIVED: Registry<ServiceOrder> = Registry::new(
    "policy",
    &[
        Entry {
            name: "exact",
            line: "the user farthest below its share in the exact DRFH allocation first, by best-fit",
            make: ServiceOrder::BelowIdeal(Objective::Drfh),
        },
        Entry {
            name: "pf",
            line: "the same with proportional fairness",
            make: ServiceOrder::BelowIdeal(Objective::ProportionalFairness),
        },
        Entry {
            name: "bmf",
            line: "the user whose smallest rank by what users have of each bottleneck is largest first, by best-fit, which \
                   makes for bottleneck max fairness",
            make: ServiceOrder::LargestRank,
        },
        Entry {
            name: "hdrf",
            line: "in groups the lowest share by hierarchical DRF first, by best-fit",
            make: ServiceOrder::Hierarchical,
        },
    ],
);

/// Who is served and where: a policy of placement, which serves the lowest dominant share first, or one that serves the most
/// deprived user.
pub(super) struct ClusterPolicy {
    /// Its name in results.
    pub name: String,
    pub placement: Chooser,
    pub order: ServiceOrder,
}

/// A run on the cluster that users share.
pub(super) struct Shared<'a> {
    pub input: &'a TraceInput,
    pub settings: ClusterSettings,
    pub present: Option<&'a Present>,
    pub tenants: Option<&'a Tenants>,
    pub note: &'a FailureNote,
}

/// Who chooses servers.
pub(super) enum Chooser {
    Rule(Box<dyn PlacementPolicy>),
    Outside(OutsidePolicy),
    Asked(Asked),
}

impl ClusterPolicy {
    /// The one called `name`. Only `random` draws on `seed`.
    pub fn named(name: &str, seed: u64) -> Result<Self, Error> {
        if let Ok((deprived, _)) = MOST_DEPRIVED.find(name) {
            let placement = Chooser::Rule(Box::new(BestFit));
            return Ok(Self { name: deprived.name.into(), placement, order: deprived.make });
        }
        let placement = device_policy(name, seed)
            .or_else(|_| policy(name, seed))
            .map_err(|unknown| unknown.among(&DEVICE_POLICIES).among(&MOST_DEPRIVED))?;
        let order = match placement.turn() {
            Turn::LowestShare => ServiceOrder::LowestShare,
            Turn::FewestTasks => ServiceOrder::FewestTasks,
        };
        Ok(Self { name: placement.name(), placement: Chooser::Rule(placement), order })
    }

    /// One in another process.
    pub fn outside(command: &OutsidePolicy) -> Self {
        let placement = Chooser::Outside(command.clone());
        Self { name: command.name(), placement, order: ServiceOrder::LowestShare }
    }

    /// One of the caller's.
    pub fn own(asked: Asked) -> Self {
        Self { name: asked.name.clone(), placement: Chooser::Asked(asked), order: ServiceOrder::LowestShare }
    }

    /// The same where it is another process, which must answer within what is left of the time.
    pub fn asked_within(&self, left: Option<Duration>) -> Option<Self> {
        match (&self.placement, left) {
            (Chooser::Outside(command), Some(left)) => Some(Self::outside(&command.within(left))),
            _ => None,
        }
    }

    /// Runs a trace on the cluster that users share.
    pub fn run(
        &self,
        Shared { input, settings, present, tenants, note }: Shared<'_>,
        solver: &dyn Solver,
        watch: &mut dyn Watch,
    ) -> Result<ClusterOutcome, Error> {
        let mut source = input.open()?;
        let names = cluster_names(source.register().header());
        let devices = self.devices(source.register())?;
        self.ruled(solver, (&names, note), &devices, |rules| {
            let rules = ClusterRules { present, tenants, ..rules };
            Ok(simulate_cluster(&mut *source, rules, settings, watch)?)
        })
    }

    /// The sizes of the devices of a trace, 0 where there are none, if its policy can place by devices and rules; empty where the trace has
    /// neither.
    pub fn devices(&self, register: &Register) -> Result<Vec<u128>, Error> {
        let mut sizes: Vec<u128> = register.devices().iter().map(|size| u128::from(*size)).collect();
        let has_devices = !sizes.is_empty();
        if !register.header().rules.is_empty() {
            sizes.resize(register.header().resources.len(), 0);
        }
        let knows = match &self.placement {
            Chooser::Rule(policy) => policy.choice_on_devices(&vec![0; sizes.len()], &sizes).is_some(),
            Chooser::Outside(_) | Chooser::Asked(_) => false,
        };
        if DEVICE_POLICIES.names().any(|name| name == self.name) && !knows {
            let found = sizes.iter().filter(|size| **size > 0).count();
            return Err(PlacementError::DevicesNeeded { policy: self.name.clone(), found }.into());
        }
        if sizes.is_empty() || knows {
            return Ok(sizes);
        }
        let known = POLICIES.names().filter(|name| {
            policy(name, 0).is_ok_and(|policy| policy.choice_on_devices(&[0], &[1]).is_some())
        });
        let of_devices = DEVICE_POLICIES.names().filter(|_| has_devices);
        let known: Vec<&str> = known.chain(of_devices).collect();
        Err(Error::Setting(format!(
            "policy {}: does not look at {}, and the trace has some; take {}",
            self.name,
            if has_devices { "devices" } else { "rules that tasks meet" },
            known.join(", ")
        )))
    }

    /// Runs every user of a trace alone on its part of the servers.
    pub fn run_dedicated(
        &self,
        input: &TraceInput,
        solver: &dyn Solver,
        settings: ClusterSettings,
        seed: u64,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<ClusterOutcome, Error> {
        let named = (&ClusterNames::default(), &FailureNote::default());
        let devices = self.devices(input.open()?.register())?;
        self.ruled(solver, named, &devices, |rules| {
            Ok(dedicated_clouds(&|| input.open(), rules, settings, seed, stop)?)
        })
    }

    fn ruled<T>(
        &self,
        solver: &dyn Solver,
        (names, note): (&ClusterNames, &FailureNote),
        devices: &[u128],
        run: impl FnOnce(ClusterRules<'_>) -> T,
    ) -> T {
        let choice = |totals: &[u128], largest: &[u128]| match &self.placement {
            Chooser::Rule(policy) => {
                let on_devices = || policy.choice_on_devices(totals, devices);
                let on_devices = (!devices.is_empty()).then(on_devices).flatten();
                on_devices.unwrap_or_else(|| policy.choice(totals, largest))
            }
            Chooser::Outside(policy) => policy.choice(names.clone(), note.clone()),
            Chooser::Asked(asked) => asked.live_choice(names.clone(), note.clone()),
        };
        run(ClusterRules { choice: &choice, order: self.order, solver, present: None, tenants: None })
    }
}

/// What policies of other people are told that resources and servers are called.
fn cluster_names(header: &TraceHeader) -> ClusterNames {
    let servers = header.server_classes.iter().flat_map(|class| {
        (1..=class.count).map(|number| (format!("{}/{number}", class.id), class.id.clone()))
    });
    let resources = header.resources.iter();
    ClusterNames {
        resources: resources.map(|r| (r.name.clone(), -(r.decimal_places as i8))).collect(),
        servers: servers.collect(),
    }
}
