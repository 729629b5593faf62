//! What each member of cohorts may have of a quota, as Kueue counts: what a member does not lend is its own, used or not, and of the rest it
//! takes what its cohort leaves it, up to its borrowing limit.
//!
//! Source: Kueue's cache of quotas (`resource_node.go`: the quota of a subtree, the local quota, and what is potentially available).

use super::found::{Found, Workload};
use super::objects::Amount;
use fairplan_instances::quantity::Quantity;
use std::collections::{BTreeMap, BTreeSet};

/// A ClusterQueue or a cohort, by its position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Member {
    Queue(usize),
    Cohort(usize),
}

/// A flavor and a resource.
pub(super) type Key = (String, String);

/// What a member has of a quota.
#[derive(Clone, Copy, Default)]
pub(super) struct Account {
    /// Its own and what those below it lend.
    subtree: Quantity,
    /// What of that it does not lend.
    kept: Quantity,
    /// The most that it may have beside what those below it keep.
    reach: Quantity,
    /// What those below it keep that are tenants, and how much of what all keep their tasks ask for: the rest is nobody's.
    kept_inside: Quantity,
    used_inside: Quantity,
    /// Its own quota and those of all below it.
    nominal: Quantity,
    /// What of that others never have, where it says so itself.
    reserve: Option<Quantity>,
    /// The most that all in its cohort may have together; without one its own quota.
    around: Quantity,
    /// Whether tasks are too few for what it keeps, or for what some below it keep.
    is_idle: bool,
}

impl Account {
    /// What it and all below it are sure of together.
    pub(super) fn sure(&self) -> Quantity {
        self.subtree.plus(self.used_inside)
    }

    /// The most that it and all below it may have together, where what those below it keep stays theirs.
    pub(super) fn most(&self) -> Quantity {
        self.reach.plus(self.kept_inside)
    }

    /// The same where what they keep and have no tasks for is taken off.
    pub(super) fn most_used(&self) -> Quantity {
        self.reach.plus(self.used_inside)
    }

    /// The most that all in its cohort may have together; without one its own quota and those of all below it.
    pub(super) fn around(&self) -> Quantity {
        self.around
    }

    /// Its own quota and those of all below it.
    pub(super) fn nominal(&self) -> Quantity {
        self.nominal
    }

    /// Whether tasks are too few for what it keeps, or for what some below it keep.
    pub(super) fn is_idle(&self) -> bool {
        self.is_idle
    }

    /// What others never have, where it says so itself.
    pub(super) fn reserve(&self) -> Option<Quantity> {
        self.reserve
    }
}

/// The accounts of all that have a quota or are above one, by quota.
pub(super) struct Lending(BTreeMap<Key, BTreeMap<Member, Account>>);

impl Lending {
    /// The accounts where these queues, by position, take part with what they have and run nothing.
    pub(super) fn of(found: &Found, closed: &BTreeSet<usize>) -> Self {
        let mut quotas: BTreeMap<Key, BTreeMap<Member, Option<&Amount>>> = BTreeMap::new();
        let of_queues =
            found.queues.iter().enumerate().map(|(at, queue)| (Member::Queue(at), &queue.amounts));
        let of_cohorts =
            found.cohorts.iter().enumerate().map(|(at, cohort)| (Member::Cohort(at), &cohort.amounts));
        for (member, amounts) in of_queues.chain(of_cohorts) {
            for amount in amounts {
                let key = (amount.flavor.clone(), amount.resource.clone());
                let stated = quotas.entry(key).or_default();
                stated.insert(member, Some(amount));
                let mut above = found.above(member);
                while let Some(cohort) = above {
                    stated.entry(Member::Cohort(cohort)).or_default();
                    above = found.above(Member::Cohort(cohort));
                }
            }
        }
        let counted = |(key, stated): (Key, BTreeMap<Member, Option<&Amount>>)| {
            let accounts = accounts(found, &stated);
            (key, accounts)
        };
        let mut lending = Self(quotas.into_iter().map(counted).collect());
        lending.count_what_is_used(found, closed);
        lending
    }

    /// The account of a member.
    pub(super) fn account(&self, member: Member, key: &Key) -> Account {
        self.0.get(key).and_then(|accounts| accounts.get(&member)).copied().unwrap_or_default()
    }

    /// The accounts of a cohort, by quota.
    pub(super) fn of_cohort(&self, cohort: usize) -> impl Iterator<Item = (&Key, Account)> {
        self.0.iter().filter_map(move |(key, accounts)| Some((key, *accounts.get(&Member::Cohort(cohort))?)))
    }

    /// Adds up what is kept, and what tasks ask for of that.
    fn count_what_is_used(&mut self, found: &Found, closed: &BTreeSet<usize>) {
        let mut work: Vec<Vec<&Workload>> = vec![Vec::new(); found.queues.len()];
        found.workloads.iter().for_each(|one| work[found.locals[one.local].of].push(one));
        let queues = work.iter().enumerate().map(|(queue, work)| match closed.contains(&queue) {
            true => Tasks::NONE,
            false => self.tasks(queue, found, work),
        });
        let queues: Vec<Tasks<'_>> = queues.collect();
        for ((_, resource), accounts) in &mut self.0 {
            // What each asks for beyond what those below it keep, and whether it is a tenant.
            let mut tasks: BTreeMap<Member, (Option<Quantity>, bool)> = BTreeMap::new();
            for member in upwards(found, accounts) {
                let (asks, is_there) = match member {
                    Member::Queue(queue) => (queues[queue].asked_of(resource), queues[queue].is_tenant),
                    // One of which no queue has a quota of this is there with its other quotas.
                    Member::Cohort(_) => {
                        tasks.get(&member).copied().unwrap_or((Some(Quantity::default()), true))
                    }
                };
                let Account { kept, kept_inside, used_inside, .. } = accounts[&member];
                let account = accounts.entry(member).or_default();
                account.is_idle |= asks.is_some_and(|asks| asks < kept);
                let is_idle = account.is_idle;
                let Some(cohort) = found.above(member).map(Member::Cohort) else { continue };
                let above = accounts.entry(cohort).or_default();
                above.is_idle |= is_idle;
                if is_there {
                    above.kept_inside = above.kept_inside.plus(kept).plus(kept_inside);
                }
                let used = asks.map_or(kept, |asks| asks.min(kept)).plus(used_inside);
                above.used_inside = above.used_inside.plus(used);
                let beyond = asks.map(|asks| asks.minus(kept));
                let (all, somebody) = tasks.entry(cohort).or_insert((Some(Quantity::default()), false));
                *all = all.zip(beyond).map(|(all, beyond)| all.plus(beyond));
                *somebody |= is_there;
            }
            let most: BTreeMap<Member, Quantity> =
                accounts.iter().map(|(member, account)| (*member, account.most())).collect();
            for (member, account) in accounts {
                let cohort = found.above(*member).map(Member::Cohort);
                account.around = cohort.map_or(account.nominal, |cohort| most[&cohort]);
            }
        }
    }

    /// The tasks of a queue that can run.
    fn tasks<'f>(&self, queue: usize, found: &Found, work: &[&'f Workload]) -> Tasks<'f> {
        let amounts = &found.queues[queue].amounts;
        let may_have = |resource: &str, takes: &dyn Fn(&str) -> bool| {
            let mut own =
                amounts.iter().filter(|own| own.resource == resource && takes(&own.flavor)).peekable();
            let reach = |own: &Amount| {
                let key = (own.flavor.clone(), own.resource.clone());
                self.account(Member::Queue(queue), &key).reach
            };
            own.peek().is_none() || own.any(|own| !reach(own).is_zero())
        };
        if !found.states_workloads || work.is_empty() {
            // No task does without these.
            let is_tenant = ["cpu", "memory"].into_iter().all(|resource| may_have(resource, &|_| true));
            let is_known = found.states_workloads || !is_tenant;
            return Tasks { asked: is_known.then(BTreeMap::new), is_tenant };
        }
        let (mut asked, mut is_tenant): (BTreeMap<&str, Quantity>, bool) = (BTreeMap::new(), false);
        for work in work {
            let takes = |flavor: &str| work.flavors.contains(flavor);
            let mut requests = work.requests.iter().filter(|(_, amount)| !amount.is_zero());
            if requests.all(|(resource, _)| may_have(resource, &takes)) {
                is_tenant = true;
                for (resource, amount) in &work.requests {
                    let sum = asked.entry(resource).or_default();
                    *sum = sum.plus(amount.repeated(work.count));
                }
            }
        }
        Tasks { asked: Some(asked), is_tenant }
    }
}

/// The tasks of a queue that can run.
struct Tasks<'f> {
    /// What they ask for, by resource; `None` where they are not known.
    asked: Option<BTreeMap<&'f str, Quantity>>,
    /// Whether the queue is a tenant: it has such tasks, or none at all.
    is_tenant: bool,
}

impl Tasks<'_> {
    /// Those of a queue that is left out.
    const NONE: Self = Self { asked: Some(BTreeMap::new()), is_tenant: false };

    /// What they ask for of a resource: as much as there is where they are not known.
    fn asked_of(&self, resource: &str) -> Option<Quantity> {
        self.asked.as_ref().map(|asked| asked.get(resource).copied().unwrap_or_default())
    }
}

/// What all have of a quota, but for what is used.
fn accounts(found: &Found, stated: &BTreeMap<Member, Option<&Amount>>) -> BTreeMap<Member, Account> {
    let mut accounts: BTreeMap<Member, Account> =
        stated.keys().map(|member| (*member, Account::default())).collect();
    let order = upwards(found, &accounts);
    for member in &order {
        let account = accounts.entry(*member).or_default();
        if let Some(own) = stated[member] {
            account.subtree = account.subtree.plus(own.nominal);
            account.nominal = account.nominal.plus(own.nominal);
            account.kept = own.lending.map_or(account.kept, |lending| account.subtree.minus(lending));
            let lending = own.lending.filter(|_| found.above(*member).is_some());
            account.reserve = lending.map(|lending| account.nominal.minus(lending));
        }
        let Account { subtree, kept, nominal, .. } = *account;
        if let Some(cohort) = found.above(*member) {
            let above = accounts.entry(Member::Cohort(cohort)).or_default();
            above.subtree = above.subtree.plus(subtree.minus(kept));
            above.nominal = above.nominal.plus(nominal);
        }
    }
    for member in order.iter().rev() {
        let Account { subtree, kept, .. } = accounts[member];
        let above = found.above(*member).map(|cohort| accounts[&Member::Cohort(cohort)]);
        let account = accounts.entry(*member).or_default();
        account.reach = subtree;
        if let Some(above) = above {
            let borrowing = stated[member].and_then(|own| own.borrowing);
            let most = borrowing.map(|borrowing| subtree.plus(borrowing));
            account.reach = most.into_iter().chain([kept.plus(above.reach)]).min().unwrap_or(subtree);
        }
    }
    accounts
}

/// The members with what is below each before it.
fn upwards(found: &Found, accounts: &BTreeMap<Member, Account>) -> Vec<Member> {
    let depth = |member: &Member| {
        std::iter::successors(Some(*member), |member| found.above(*member).map(Member::Cohort)).count()
    };
    let mut order: Vec<Member> = accounts.keys().copied().collect();
    order.sort_by_cached_key(|member| std::cmp::Reverse(depth(member)));
    order
}

impl Found {
    /// The cohort that a member is in.
    fn above(&self, member: Member) -> Option<usize> {
        match member {
            Member::Queue(queue) => self.queues[queue].cohort,
            Member::Cohort(cohort) => self.cohorts[cohort].parent,
        }
    }
}
