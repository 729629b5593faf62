//! What an export says of its tenants, held against the instance: who they are, where their tasks may run, and how much they may have.

use super::tree::Tree;
use super::{ExportClaim, used_up};
use crate::tolerance::{BEYOND_LIMIT, STATED};
use crate::verdict::Worst;
use fairplan_instances::Instance;

/// The properties in which an export is one of the instance.
pub(super) fn seen(instance: &Instance, claim: &ExportClaim) -> Vec<Worst> {
    let tree = Tree::new(instance, claim);
    let mut all = Worst::of("all-tenants", 0.0);
    let mut runs = Worst::of("may-run", 0.0);
    let mut tasks = Worst::of("whole-tasks", STATED);
    let mut limits = Worst::of("within-limits", BEYOND_LIMIT);
    let mut sums = Worst::of("sums", STATED);
    let mut shares = Worst::of("export-shares", STATED);
    tree.all_are_there(&mut all);
    for (t, tenant) in claim.tenants.iter().enumerate() {
        tree.runs_where_it_may(tenant, &mut runs);
        tree.has_whole_tasks(tenant, &mut tasks);
        tree.is_within_limits(tenant, &mut limits);
        tree.has_what_is_below(t, &mut sums);
        tree.has_its_share(tenant, &mut shares);
    }
    vec![all, runs, tasks, limits, sums, shares, used_up::seen(&tree, claim)]
}

#[cfg(test)]
mod tests {
    use super::super::tree::exact;
    use super::super::{AmountClaim, ExportedTenantClaim};
    use super::*;
    use crate::tolerance::{LEFT, WHOLE_UNITS};
    use crate::verify_export;
    use fairplan_instances::files::{read_json, source};
    use fairplan_instances::{ClassId, GroupId, Owner, ResourceId, UserId};

    const CLUSTER: &str = r#"{"format": "fairplan.instance.v1", "resources": ["cpu", "memory"],
        "server_classes": [{"id": "S", "count": 2, "capacity": {"cpu": 7, "memory": 14}},
                           {"id": "T", "count": 3, "capacity": {"cpu": 5, "memory": 15}}],
        "groups": [{"id": "g"}],
        "users": [{"id": "a", "demand": {"cpu": 1, "memory": 2}, "limit": {"cpu": 5}},
                  {"id": "b", "demand": {"cpu": 1, "memory": 1}, "eligible": ["S"], "group": "g"},
                  {"id": "c", "demand": {"cpu": 1, "memory": 1}, "tasks": 4, "group": "g"}]}"#;

    fn cluster() -> Instance {
        read_json(source::in_memory("it", CLUSTER.as_bytes().to_vec()).unwrap()).unwrap()
    }

    /// So many tasks of a user on the two classes.
    fn tenant(
        instance: &Instance,
        user: usize,
        parent: Option<usize>,
        tasks: [u64; 2],
    ) -> ExportedTenantClaim {
        let user = instance.user(UserId(user));
        let amounts = (0..2).flat_map(|class| (0..2).map(move |r| (class, r))).filter_map(|(class, r)| {
            let units = tasks[class] * user.demand_doubles()[r] as u64;
            let (class, resource) = (ClassId(class), ResourceId(r));
            let amount =
                AmountClaim { class, resource, unit: 1_000_000_000, per: 1, exact: units as f64, units };
            (units > 0).then_some(amount)
        });
        let (id, owner) = (user.id().to_owned(), Owner::User(user.index()));
        let mut tenant = ExportedTenantClaim { id, owner, parent, share: 0.0, amounts: amounts.collect() };
        tenant.share = share(instance, &tenant);
        tenant
    }

    fn share(instance: &Instance, tenant: &ExportedTenantClaim) -> f64 {
        let part = |r: usize| {
            let of = tenant.amounts.iter().filter(|amount| amount.resource.0 == r);
            of.map(exact).sum::<f64>() / instance.total(ResourceId(r))
        };
        part(0).max(part(1))
    }

    /// Five tasks of `a` on T; in `g` fourteen of `b` on S and four of `c` on T.
    fn claim(instance: &Instance) -> ExportClaim {
        let (a, b, c) = (
            tenant(instance, 0, None, [0, 5]),
            tenant(instance, 1, Some(0), [14, 0]),
            tenant(instance, 2, Some(0), [0, 4]),
        );
        let amounts = b.amounts.iter().chain(&c.amounts).cloned().collect();
        let owner = Owner::Group(GroupId(0));
        let mut g = ExportedTenantClaim { id: "g".into(), owner, parent: None, share: 0.0, amounts };
        g.share = share(instance, &g);
        ExportClaim { tenants: vec![g, b, c, a], ..ExportClaim::default() }
    }

    #[test]
    fn an_export_of_other_tenants_or_of_what_they_may_not_have_is_refused() {
        let instance = cluster();
        let failed = |change: &dyn Fn(&mut ExportClaim)| -> Vec<&str> {
            let mut claim = claim(&instance);
            change(&mut claim);
            let verdicts = verify_export(&instance, &claim);
            let failed =
                verdicts.into_iter().filter(|verdict| !verdict.holds).map(|verdict| verdict.property);
            // Whoever has less than it may leaves something over, of which another test speaks.
            failed.filter(|property| *property != "used-up").collect()
        };
        assert!(failed(&|_| {}).is_empty());
        assert_eq!(failed(&|claim| claim.tenants.clear()), ["all-tenants"]);
        assert_eq!(failed(&|claim| drop(claim.tenants.pop())), ["all-tenants"]);
        // Without those below it the group is told as a whole, as by --levels 1.
        assert!(failed(&|claim| drop(claim.tenants.drain(1..3))).is_empty());
        let replaced = |at: usize, user: usize, tasks: [u64; 2]| {
            let (parent, instance) = (claim(&instance).tenants[at].parent, &instance);
            let tenant = tenant(instance, user, parent, tasks);
            move |claim: &mut ExportClaim| {
                claim.tenants[at] = tenant.clone();
                let below = [1, 2].map(|t| claim.tenants[t].amounts.clone()).concat();
                claim.tenants[0].amounts = below;
                claim.tenants[0].share = share(instance, &claim.tenants[0]);
            }
        };
        assert_eq!(failed(&replaced(1, 1, [5, 3])), ["may-run"]);
        assert_eq!(failed(&replaced(2, 2, [0, 5])), ["within-limits"]);
        assert_eq!(failed(&replaced(3, 0, [0, 6])), ["within-limits"]);
        let one_more = |claim: &mut ExportClaim, at: usize| {
            let amount = &mut claim.tenants[at].amounts[0];
            (amount.units, amount.exact) = (amount.units - 1, amount.exact - 1.0);
        };
        assert_eq!(failed(&|claim| one_more(claim, 3)), ["whole-tasks", "export-shares"]);
        assert_eq!(failed(&|claim| one_more(claim, 2)), ["whole-tasks", "sums", "export-shares"]);
        assert_eq!(failed(&|claim| claim.tenants[3].share *= 1.1), ["export-shares"]);
        assert!(failed(&|claim| claim.headroom = "0.5".parse().unwrap()).contains(&"units-fit"));
    }

    /// Whether a property holds where this amount of `a`, of which 5 cpu are its limit, is changed by so much.
    fn holds_with(property: &str, change: impl Fn(&mut AmountClaim)) -> bool {
        let instance = cluster();
        let mut claim = claim(&instance);
        claim.tenants[3].amounts.iter_mut().for_each(change);
        let verdicts = verify_export(&instance, &claim);
        verdicts.iter().find(|verdict| verdict.property == property).unwrap().holds
    }

    #[test]
    fn a_limit_may_be_exceeded_by_its_tolerance_and_no_more() {
        let times = |factor: f64| holds_with("within-limits", |amount| amount.exact *= factor);
        assert!(times(1.0 + 0.9 * BEYOND_LIMIT) && !times(1.0 + 1.1 * BEYOND_LIMIT));
    }

    #[test]
    fn whole_units_may_be_off_by_one_and_their_tolerance_and_no_more() {
        let off = |by: f64| holds_with("within-one-unit", |amount| amount.exact -= 1.0 + by);
        assert!(off(0.9 * WHOLE_UNITS) && !off(1.1 * WHOLE_UNITS));
    }

    /// `g` has all cores of S.
    #[test]
    fn the_answer_may_come_to_a_part_of_a_unit_more_than_there_is_and_no_more() {
        let fits = |by: f64| {
            let instance = cluster();
            let mut claim = claim(&instance);
            claim.tenants[0].amounts.iter_mut().for_each(|amount| amount.exact += by);
            let verdicts = verify_export(&instance, &claim);
            verdicts.iter().find(|verdict| verdict.property == "answer-fits").unwrap().holds
        };
        assert!(fits(0.9 * WHOLE_UNITS) && !fits(1.1 * WHOLE_UNITS));
    }

    /// Of the five cores that it may have `a` could take what is missing, a part of the 29 that there are.
    #[test]
    fn a_tenant_may_lack_of_what_is_free_its_tolerance_and_no_more() {
        let is_used_up = |part: f64| holds_with("used-up", |amount| amount.exact *= 1.0 - part * 29.0 / 5.0);
        assert!(is_used_up(0.9 * LEFT) && !is_used_up(1.1 * LEFT));
    }

    #[test]
    fn an_export_that_leaves_over_what_a_tenant_could_use_is_refused() {
        let instance = cluster();
        let left_over = |change: &dyn Fn(&mut ExportClaim)| {
            let mut claim = claim(&instance);
            change(&mut claim);
            let verdicts = verify_export(&instance, &claim);
            let verdict = verdicts.into_iter().find(|verdict| verdict.property == "used-up").unwrap();
            (!verdict.holds).then_some(verdict.witness)
        };
        let less = |claim: &mut ExportClaim, at: usize, tasks: f64| {
            for amount in &mut claim.tenants[at].amounts {
                amount.exact *= tasks;
            }
        };
        // All is used, all tasks run or the limit is reached.
        assert_eq!(left_over(&|_| {}), None);
        assert!(
            left_over(&|claim| less(claim, 3, 0.8)).unwrap().starts_with("a: 1 tasks more of a fit on T")
        );
        assert!(left_over(&|claim| less(claim, 2, 0.5)).unwrap().starts_with("c: "));
        assert!(left_over(&|claim| claim.tenants.iter_mut().for_each(|it| it.amounts.clear())).is_some());
        // Of a group that is one tenant nothing is known of those with tasks or limits, but b takes what is free.
        assert_eq!(left_over(&|claim| drop(claim.tenants.drain(1..3))), None);
        let half = |claim: &mut ExportClaim| {
            claim.tenants.drain(1..3);
            less(claim, 0, 0.5);
        };
        assert!(left_over(&half).unwrap().contains("of b fit on S"));
    }

    #[test]
    fn a_smaller_headroom_does_not_come_to_the_shares() {
        let instance = cluster();
        let mut claim = claim(&instance);
        // Half of everybody's answer is left, as a headroom of a half would leave of what is used up.
        for tenant in &mut claim.tenants {
            for amount in &mut tenant.amounts {
                amount.exact /= 2.0;
                amount.units = amount.exact as u64;
            }
        }
        let holds = |headroom: &str| {
            let claim = ExportClaim { headroom: headroom.parse().unwrap(), ..claim.clone() };
            verify_export(&instance, &claim).iter().all(|verdict| verdict.holds)
        };
        assert!(holds("0.5"));
        assert!(!holds("0.25"));
    }
}
