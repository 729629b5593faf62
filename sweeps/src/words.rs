//! What a task runs, word for word.

use crate::axes::Axis;
use crate::commands::{Argument, PIPE};
use crate::stage::Stage;
use crate::value::Value;

/// The words of a task: those of its commands, between which a [`PIPE`] stands.
pub(crate) fn words(stages: &[Stage<'_>], axes: &[Axis<'_>], choice: &[usize]) -> Vec<String> {
    let mut words = Vec::new();
    for (position, stage) in stages.iter().enumerate() {
        let of_stage = axes.iter().zip(choice).filter(|(axis, _)| axis.stage == position);
        let chosen: Vec<(&Argument, &Value)> = of_stage
            .flat_map(|(axis, at)| axis.members.iter().map(|member| (member.argument, &member.values[*at])))
            .collect();
        if position > 0 {
            words.push(PIPE.into());
        }
        words.extend(stage.words(&chosen));
    }
    words
}
