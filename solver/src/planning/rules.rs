//! What the rules that only whole tasks meet ask of every purchase: devices, limits a server, tasks spread over domains.
//!
//! A server of class `l` holds at most `k_il` tasks of user `i` where nothing else runs, so that `Σ_l N_l k_il >= R_i`. Of `R_i` tasks
//! of which two of `D` domains have numbers that differ by at most `s`, each domain has at least `(R_i − (D − 1) s) / D`, and must
//! hold as many. Divided tasks know nothing of this: the rows guide the search, and no bound is made of them.

use super::cuts::Cut;
use super::planner::Planner;
use fairplan_instances::{ClassId, DomainId, Instance, InstanceError, Kind, UserId};

impl Planner<'_> {
    /// Rows that every purchase keeps on whose cluster all tasks are placed under their rules.
    ///
    /// # Errors
    /// A cluster that breaks a rule of the model.
    pub(super) fn rows_of_rules(&self) -> Result<Vec<Cut>, InstanceError> {
        let asking: Vec<usize> = self.candidates.asking().filter(|i| !self.rules_of(*i).is_empty()).collect();
        if asking.is_empty() {
            return Ok(Vec::new());
        }
        let mut draft = self.candidates.ruled().clone();
        draft.measured_by = None;
        let cluster = draft.build().map_err(InstanceError::Inapplicable)?;
        let mut rows = Vec::new();
        for i in asking {
            let user = cluster.user(UserId(i));
            for kind in user.kinds() {
                let pieces = self.candidates.required[i] * kind.each() as f64;
                rows.extend(self.row(kind, pieces, |_| true));
                let Some(spread) = user.spread() else { continue };
                let domains = self.domains_of(&cluster, kind);
                let count = domains.len() as f64;
                let least = (pieces - (count - 1.0) * spread as f64) / count;
                // Those that have a server, whatever is bought.
                for domain in kind.domains() {
                    let within = |class| cluster.domain_of(class) == Some(domain);
                    rows.extend(self.row(kind, least.ceil(), within));
                }
            }
        }
        Ok(rows)
    }

    /// The domains over which pieces may have to be spread, once servers are bought.
    fn domains_of(&self, cluster: &Instance, kind: Kind<'_>) -> Vec<DomainId> {
        let is_there = |s: &usize| self.candidates.owned[*s] > 0 || self.is_offered(*s);
        let classes = (0..self.candidates.len()).filter(is_there).map(ClassId);
        let usable = classes.filter(|class| kind.rule().allows(*class));
        let mut domains: Vec<DomainId> = usable.filter_map(|class| cluster.domain_of(class)).collect();
        domains.sort_unstable();
        domains.dedup();
        domains
    }

    /// So many pieces must have room on the servers of some classes, if they are there alone.
    fn row(&self, kind: Kind<'_>, pieces: f64, within: impl Fn(ClassId) -> bool) -> Option<Cut> {
        let held = |s: usize| if within(ClassId(s)) { kind.held_on_server(ClassId(s)) as f64 } else { 0.0 };
        let owned = (0..self.candidates.len()).filter(|s| self.candidates.owned[*s] > 0);
        let owned = owned.map(|s| self.candidates.owned[s] as f64 * held(s)).sum();
        Cut::new(self.candidates.of_type.iter().map(|s| held(*s)).collect(), owned, pieces, Vec::new())
    }

    /// Whether servers of a candidate can be bought.
    pub(super) fn is_offered(&self, candidate: usize) -> bool {
        let mut kinds = self.candidates.of_type.iter().zip(&self.catalog.types);
        kinds.any(|(of, kind)| *of == candidate && kind.limit != Some(0))
    }

    /// The rules that whole tasks of a user meet, as instances state them.
    pub(super) fn rules_of(&self, user: usize) -> Vec<String> {
        let draft = self.candidates.ruled();
        let user = &draft.users[user];
        let has_devices =
            |r: usize| draft.classes.iter().any(|class| class.devices.iter().any(|(of, _)| of.0 == r));
        let devices = (0..draft.resources.len()).find(|r| !user.demand[*r].is_zero() && has_devices(*r));
        [
            user.per_server.map(|most| format!("`per_server` = {most}")),
            user.gang.map(|gang| format!("`gang` = {}", gang.tasks)),
            user.spread.map(|most| format!("`spread` = {most}")),
            devices.map(|r| format!("devices of {}", draft.resources[r])),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}
