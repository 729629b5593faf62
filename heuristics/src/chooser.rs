//! A rule that somebody else has, at work, and what it has decided ahead.

use fairplan_instances::KindId;
use std::collections::VecDeque;

/// A rule at work.
pub trait Chooser: Send {
    /// Adds the server for one more piece of this kind to `servers`, and those for its pieces after it if the rule decides several at
    /// once; nothing if its user shall have no more tasks. As soon as a server is full that was named for a later piece, the rule is
    /// asked again. A user without kinds has one, its task; where a task has several pieces and one has no server, the others are
    /// taken back, of which [`Chooser::left`] tells.
    ///
    /// # Errors
    /// Why there is no answer.
    fn choose(&mut self, kind: KindId, servers: &mut VecDeque<usize>) -> Result<(), String>;

    /// What a server has left in units, after a piece has taken its room or given it back. Where tasks come and go also when one has ended, and when
    /// there is one server more: it has the next number.
    fn left(&mut self, server: usize, free: &[u128]);

    /// Where tasks come and go: there is one user more, whose tasks ask for this.
    fn user(&mut self, _demand: &[u128]) {}
}

/// Servers that a rule has named for pieces to come, by kind.
#[derive(Default)]
pub(crate) struct Ahead(Vec<VecDeque<usize>>);

impl Ahead {
    /// The server for one more piece of a kind: the next that was named, or what the rule now says.
    pub fn next(
        &mut self,
        kind: usize,
        chooser: &mut dyn Chooser,
        is_full: impl Fn(usize) -> bool,
    ) -> Result<Option<usize>, String> {
        if kind >= self.0.len() {
            self.0.resize_with(kind + 1, VecDeque::new);
        }
        let named = &mut self.0[kind];
        if let Some(server) = named.pop_front()
            && !is_full(server)
        {
            return Ok(Some(server));
        }
        named.clear();
        chooser.choose(KindId(kind), named)?;
        Ok(named.pop_front())
    }
}
