//! What runs when a trace begins, from a placement and the instance that it is of.

use crate::{Error, ResultFile};
use fairplan_instances::trace::{TraceHeader, seconds};
use fairplan_instances::wording::printable;
use fairplan_instances::{Decimal, Instance, InstanceStamp, ServerNames, UserId, files};
use fairplan_report::given_placement::GivenPlacement;
use fairplan_report::simulation::StartingPlacement;
use fairplan_simulation::{Present, PresentServer, PresentTasks};

/// A placement that a simulation begins with: its tasks run on their servers, as if submitted and started at the trace's first
/// instant, and before any other.
#[derive(Clone, Debug)]
pub struct SimulationStart {
    /// Says what a task of each user holds. Its servers are those of the trace: of the same name, or the same class and number.
    pub instance: Instance,
    /// What runs where: a `fairplan.placement.v1` of this instance with its servers.
    pub placement: ResultFile,
    /// How long its tasks go on, in microseconds; `None`: to the end of the run.
    pub remaining: Option<u64>,
}

impl SimulationStart {
    /// The tasks by the names of a trace, and what a result says of them.
    pub(crate) fn read(&self, header: &TraceHeader) -> Result<(Present, StartingPlacement), Error> {
        let instance = &self.instance;
        instance.plain("simulate --placement")?;
        let order = order(instance, header)?;
        let sha256 = files::sha256_hex(instance);
        let file = &self.placement;
        let GivenPlacement { policy, placement } =
            GivenPlacement::read(&file.name, &file.bytes, instance, &sha256)?;
        let mut servers_of: Vec<Vec<PresentServer>> = vec![Vec::new(); instance.user_count()];
        let names = ServerNames::new(instance);
        let (mut class_before, mut number) = (None, 0u64);
        for (server, tasks) in (0u64..).zip(&placement.servers) {
            let class = names.class(server);
            number = if class_before == Some(class) { number + 1 } else { 1 };
            class_before = Some(class);
            let in_class = format!("{}/{number}", instance.classes()[class.0].id);
            let mut called = vec![names.name(server).into_owned()];
            if called[0] != in_class {
                called.push(in_class);
            }
            for (user, tasks) in tasks {
                let server = PresentServer { names: called.clone(), tasks: *tasks };
                servers_of[*user as usize].push(server);
            }
        }
        let users = servers_of.into_iter().enumerate().filter(|(_, servers)| !servers.is_empty());
        let users = users.map(|(user, servers)| {
            let user = instance.user(UserId(user));
            let demand: Vec<Decimal> = order.iter().map(|r| user.demand()[*r]).collect();
            PresentTasks { user: user.id().into(), weight: user.weight(), demand, servers }
        });
        let present = Present { users: users.collect(), remaining: self.remaining };
        let told = StartingPlacement {
            instance: InstanceStamp::new(instance, &sha256),
            policy,
            tasks: placement.tasks.iter().sum(),
            remaining: self.remaining.map(seconds),
        };
        Ok((present, told))
    }
}

/// Where the instance has the resources of the trace.
fn order(instance: &Instance, header: &TraceHeader) -> Result<Vec<usize>, Error> {
    let of_trace = header.resources.iter().map(|resource| resource.name.as_str());
    let place = |name: &str| instance.resources().iter().position(|other| other == name);
    match of_trace.clone().map(place).collect::<Option<Vec<usize>>>() {
        Some(order) if order.len() == instance.resources().len() => Ok(order),
        _ => {
            let listed = |names: Vec<&str>| printable(&names.join(", "), 200);
            let (ours, theirs) =
                (instance.resources().iter().map(String::as_str).collect(), of_trace.collect());
            let problem = format!(
                "the resources of the placement's instance are {}, those of the trace {}; they must be the same",
                listed(ours),
                listed(theirs)
            );
            Err(Error::Input(problem.into()))
        }
    }
}
