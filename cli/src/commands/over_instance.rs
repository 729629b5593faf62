//! Rules for tasks over the servers of an instance, as `allocate` and `offline` run them.

use super::allocate::SettingsArguments;
use crate::failure::Failure;
use fairplan_instances::wording::unknown;
use fairplan_instances::{Deadline, TaskAllocation, TaskDemands};
use fairplan_solver::{TASK_MECHANISMS, TaskSettings, divide_tasks_within};

/// A share further than this from what a rule asks for is an internal failure.
const WIDEST_GAP: f64 = 1e-6;

/// The settings, with credits that nobody runs out of unless others are stated: all servers in all quanta, for the
/// smallest weight.
pub fn task_settings(settings: &SettingsArguments, demands: &TaskDemands<'_>) -> TaskSettings {
    let (alpha, credits) = settings.of_tasks();
    let weights = demands.users().iter().map(|user| demands.instance().user(*user).weight().to_f64());
    let all = || demands.series().quantum_count() as f64 / weights.fold(f64::INFINITY, f64::min);
    TaskSettings { alpha, initial_credits: credits.map_or_else(all, |credits| credits as f64) }
}

/// The rule of this name, spelled as the list has it.
pub fn task_mechanism(name: &str) -> Result<&'static str, Failure> {
    let known = TASK_MECHANISMS.iter().find(|(known, _)| *known == name);
    let names = TASK_MECHANISMS.iter().map(|(name, _)| *name);
    let refused = || Failure::refused(unknown("mechanism over an instance", name, names));
    known.map(|(known, _)| *known).ok_or_else(refused)
}

/// What a rule makes of the demands.
pub fn tasks_of(
    name: &str,
    demands: &TaskDemands<'_>,
    settings: TaskSettings,
    deadline: &Deadline,
) -> Result<TaskAllocation, Failure> {
    let allocation = divide_tasks_within(task_mechanism(name)?, demands, settings, deadline);
    let allocation = allocation.map_err(Failure::refused)?;
    let wide: Vec<usize> = (0..allocation.gaps.len()).filter(|t| allocation.gaps[*t] > WIDEST_GAP).collect();
    if let Some(first) = wide.first() {
        return Err(Failure::internal(format!(
            "{name}: {} of {} quanta did not close, the first is quantum {}: a share may be {:.1e} from what the rule asks \
             for",
            wide.len(),
            allocation.gaps.len(),
            demands.series().label(*first),
            allocation.gaps[*first]
        )));
    }
    Ok(allocation)
}
