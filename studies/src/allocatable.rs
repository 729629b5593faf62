//! The most GPU that any placement of some pods can allocate, all of them known and each of them refused at will: what
//! [`bound_allocated_around`] proves of them, and what its certificate says of a few more or fewer of them; and what one placement does.

use fairplan::instances::{AllocationProof, Draft, ResourceId};
use fairplan::{
    AllocatedBound, Control, Error, Instance, UserId, allocate_most, bound_allocated_around, gathered,
};

/// A bound is above what its certificate says by far more than doubles lose.
const UPWARDS: f64 = 1e-12;

/// What is proved of some pods.
pub(crate) struct Allocatable {
    /// The cluster with these pods and no others.
    pub instance: Instance,
    /// The bound, with its certificate, around the placement that they have.
    pub bound: AllocatedBound,
}

impl Allocatable {
    /// Bounds what the pods of these users can allocate, each of which is on a server or on none.
    pub fn new(
        instance: &Instance,
        gpu: ResourceId,
        (pods, servers): (&[UserId], &[Option<usize>]),
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let mut draft = Draft::from(instance);
        draft.users.iter_mut().for_each(|user| user.tasks = Some(0));
        for user in pods {
            let tasks = &mut draft.users[user.0].tasks;
            *tasks = tasks.map(|tasks| tasks + 1);
        }
        let instance = draft.build()?;
        let placement = gathered(&instance, pods, servers);
        let bound = bound_allocated_around(&instance, &instance.resources()[gpu.0], placement, control)?;
        Ok(Self { instance, bound })
    }

    /// No placement of these pods allocates more, as part of all there is.
    pub fn upper(&self) -> f64 {
        self.bound.bracket.upper as f64 / self.instance.total_units(self.bound.bracket.resource) as f64
    }

    /// What a placement that is looked for allocates where not all pods are placed, as part of all there is.
    pub fn found(&self, control: &Control<'_>) -> Result<f64, Error> {
        let gpu = self.bound.bracket.resource;
        let all = |units: u128| units as f64 / self.instance.total_units(gpu) as f64;
        let had = self.bound.bracket.lower(&self.instance);
        if self.bound.bracket.is_closed(&self.instance) {
            return Ok(all(had));
        }
        let found = allocate_most(&self.instance, &self.instance.resources()[gpu.0], control)?;
        Ok(all(found.units_of(&self.instance, gpu).max(had)))
    }

    /// No placement of so many pods of each user allocates more, as part of all there is: what pods are worth beyond their room, and what
    /// servers hold, is the same however many there are.
    pub fn most(&self, pods: &[u64]) -> f64 {
        let gpu = self.bound.bracket.resource;
        let total = self.instance.total_units(gpu) as f64;
        let AllocationProof { task_values, server_values, values_in_all } = &self.bound.bracket.proof;
        let part = |value: u64| value as f64 / *values_in_all as f64;
        let servers = self.instance.classes().iter().zip(server_values);
        let held: f64 = servers.map(|(class, value)| class.count as f64 * part(*value)).sum();
        let users = self.instance.users().zip(task_values).zip(pods);
        let beyond = users.map(|((user, value), pods)| {
            // Nobody has more than what all servers hold of it alone.
            let pods = (*pods).min(user.held_alone(false));
            pods as f64 * (user.demand_units(gpu) as f64 / total - part(*value)).max(0.0)
        });
        ((held + beyond.sum::<f64>()) * (1.0 + UPWARDS)).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan::InstanceBuilder;
    use fairplan::instances::{NewUser, ServerClass};

    #[test]
    fn parts_above_one_half_fill_a_device_each_and_a_certificate_says_what_others_would_allocate() {
        let gpu = ResourceId(0);
        let mut builder = InstanceBuilder::new("", vec!["gpu".into()]).unwrap();
        let mut class = ServerClass::new("a", 2, vec![4u32.into()]);
        class.devices = vec![(gpu, 4)];
        builder.class(class).unwrap();
        let user = builder.user(NewUser::new("part", &["0.6".parse().unwrap()])).unwrap();
        let instance = builder.build().unwrap();
        let of = |pods: usize| {
            Allocatable::new(&instance, gpu, (&vec![user; pods], &vec![None; pods]), &Control::none())
                .unwrap()
        };
        let found = |pods: usize| of(pods).found(&Control::none()).unwrap();
        let many = of(20);
        assert_eq!(found(20), 0.6, "eight tasks of 0.6 on eight GPUs");
        for pods in [0, 3, 8, 9, 20, 40] {
            let most = many.most(&[pods as u64]);
            assert!(found(pods) <= most, "{pods}: {most}");
        }
        // Values are whole numbers, rounded up.
        assert!((many.most(&[20]) - 0.6).abs() < 1e-7);
    }
}
