//! The divisible allocation of a moment: what an exact method gives users whose unfinished tasks are fluid.
//!
//! A user's tasks differ, so all that it has unfinished is one large task, of which it may get any part up to one.

use super::accounts::Accounts;
use super::servers::Servers;
use super::tenants::{Group, Tenants};
use fairplan_instances::trace::{Register, TraceHeader, UserNumber};
use fairplan_instances::{
    Decimal, GroupId, Instance, InstanceBuilder, InstanceError, NewGroup, NewUser, Objective, ServerClass,
    Solver, Status, UserId, Violation,
};
use std::collections::BTreeMap;

/// Asks a solver about the present.
pub(super) struct Fluid<'a> {
    solver: &'a dyn Solver,
    tenants: Option<&'a Tenants>,
    classes: Vec<(Vec<u64>, u64)>,
    /// Of the servers that `classes` count.
    version: Option<u64>,
    pub solves: u64,
    pub uncertified: u64,
}

impl<'a> Fluid<'a> {
    pub fn new(solver: &'a dyn Solver, tenants: Option<&'a Tenants>) -> Self {
        Self { solver, tenants, classes: Vec::new(), version: None, solves: 0, uncertified: 0 }
    }

    /// The dominant share of every user by `objective`; 0 for users without tasks, and for those that need what no
    /// server has.
    ///
    /// # Errors
    /// A solver that failed.
    pub fn shares(
        &mut self,
        objective: Objective,
        register: &Register,
        servers: &Servers,
        accounts: &Accounts,
    ) -> Result<Vec<f64>, InstanceError> {
        if self.version != Some(servers.version()) {
            let mut classes = BTreeMap::new();
            servers.given().for_each(|capacity| *classes.entry(capacity).or_insert(0) += 1);
            self.classes = classes.into_iter().collect();
            self.version = Some(servers.version());
        }
        let mut shares = vec![0.0; accounts.users.len()];
        let totals = servers.totals();
        let is_there = |r: usize| self.classes.iter().any(|(capacity, _)| capacity[r] > 0);
        let there: Vec<bool> = (0..totals.len()).map(is_there).collect();
        let can_have = |user: &usize| {
            let demanded = accounts.demanded(*user);
            demanded.iter().any(|amount| *amount > 0)
                && demanded.iter().zip(&there).all(|(amount, is_there)| *amount == 0 || *is_there)
        };
        let users: Vec<usize> = (0..shares.len()).filter(can_have).collect();
        if users.is_empty() {
            return Ok(shares);
        }
        let instance = self.instance(register, accounts, &users)?;
        let solution = self.solver.solve(&instance, objective)?;
        self.solves += 1;
        self.uncertified += u64::from(solution.status != Status::Optimal);
        for (position, user) in users.into_iter().enumerate() {
            let parts = accounts.demanded(user).iter().zip(totals).filter(|(_, total)| **total > 0);
            let dominant = parts.map(|(amount, total)| *amount as f64 / *total as f64).fold(0.0, f64::max);
            shares[user] = solution.allocation.tasks(UserId(position)) * dominant;
        }
        Ok(shares)
    }

    fn instance(
        &self,
        register: &Register,
        accounts: &Accounts,
        users: &[usize],
    ) -> Result<Instance, Violation> {
        let header = register.header();
        let names = header.resources.iter().map(|resource| resource.name.clone()).collect();
        let mut builder = InstanceBuilder::new(header.name.clone(), names)?;
        for (number, (capacity, count)) in self.classes.iter().enumerate() {
            let capacity = capacity.iter().map(|amount| u128::from(*amount));
            let capacity = decimals(header, capacity);
            builder.class(ServerClass::new(number.to_string(), *count, capacity))?;
        }
        if let Some(Tenants { groups, .. }) = self.tenants {
            let group = |Group { id, weight, parent }: &Group| NewGroup {
                id: id.clone(),
                weight: *weight,
                parent: parent.map(|parent| groups[parent].id.clone()),
            };
            builder.groups(groups.iter().map(group).collect())?;
        }
        for user in users {
            let demand = decimals(header, accounts.demanded(*user).iter().copied());
            let id = &accounts.users[*user].run.id;
            let (weight, group) = self.tenants.map_or((None, None), |tenants| tenants.user(id));
            let weight = weight.unwrap_or_else(|| register.weight(UserNumber(*user as u32)));
            let group = group.map(GroupId);
            builder.user(NewUser { weight, group, tasks: Some(1), ..NewUser::new(id, &demand) })?;
        }
        builder.build()
    }
}

/// Amounts in units as decimals; digits beyond the nineteenth are cut.
fn decimals(header: &TraceHeader, units: impl Iterator<Item = u128>) -> Vec<Decimal> {
    let decimal = |(mut units, places): (u128, u8)| {
        let mut exponent = -i32::from(places);
        while units > u128::from(u64::MAX) {
            (units, exponent) = (units / 10, exponent + 1);
        }
        Decimal::new(units as u64, exponent).unwrap_or(Decimal::ZERO)
    };
    units.zip(header.resources.iter().map(|resource| resource.decimal_places)).map(decimal).collect()
}
