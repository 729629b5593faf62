//! A mechanism that somebody else has: asked for the slices of every quantum, and checked at every answer.

use crate::{Mechanism, MechanismError};
use fairplan_instances::wording::{counted, printable};
use fairplan_instances::{DemandSeries, Entitlement};

/// What a mechanism of somebody else's is told of a quantum. Users are those of the series, in its order.
#[derive(Clone, Copy, Debug)]
pub struct Quantum<'a> {
    /// Its position in the series.
    pub position: usize,
    /// What each user reports to demand; 0 of who is no member.
    pub demands: &'a [u64],
    /// Who takes part, and what is due to whom.
    pub due: &'a Entitlement,
}

/// A mechanism of somebody else's, at work.
pub trait Divider {
    /// The slices of each user.
    ///
    /// # Errors
    /// Why there is no answer.
    fn divide(&mut self, quantum: Quantum<'_>) -> Result<Vec<i64>, String>;

    /// Whether users may get more than they ask for.
    fn is_beyond_demand(&self) -> bool {
        false
    }
}

/// Such a mechanism where one of ours is expected. When it has failed it is not asked again.
pub(crate) struct Asked<'a> {
    divider: &'a mut dyn Divider,
    series: &'a DemandSeries,
    due: Option<Entitlement>,
    position: usize,
    failure: Option<String>,
}

impl<'a> Asked<'a> {
    pub fn new(divider: &'a mut dyn Divider, series: &'a DemandSeries) -> Self {
        Self { divider, series, due: None, position: 0, failure: None }
    }

    /// Why it broke off, if it did.
    pub fn failure(self, name: &str) -> Result<(), MechanismError> {
        match self.failure {
            None => Ok(()),
            Some(problem) => Err(MechanismError::Asked { mechanism: name.to_owned(), problem }),
        }
    }

    fn answer(&mut self, demands: &[u64], allocated: &mut [u64]) -> Result<(), String> {
        let Some(due) = &self.due else { return Err("nobody takes part".into()) };
        let quantum = self.series.label(self.position);
        let at = |problem: String| format!("quantum {quantum}: {problem}");
        let told = Quantum { position: self.position, demands, due };
        let slices = self.divider.divide(told).map_err(&at)?;
        if slices.len() != demands.len() {
            let (slices, users) = (
                counted(slices.len() as u64, "number", "numbers"),
                counted(demands.len() as u64, "user", "users"),
            );
            return Err(at(format!(
                "{slices} for {users}; say for each how many slices it gets, 0 for none"
            )));
        }
        let mut sum = 0_u64;
        for (user, (slices, demand)) in slices.iter().zip(demands).enumerate() {
            let refused = |problem: &str| {
                let id = printable(self.series.user_id(user), 60);
                at(format!("{id} gets {slices}: {problem}"))
            };
            let slices = u64::try_from(*slices).map_err(|_| refused("must be >= 0"))?;
            if slices > 0 && due.members().binary_search(&(user as u32)).is_err() {
                return Err(refused("is no member in this quantum"));
            }
            if slices > *demand && !self.divider.is_beyond_demand() {
                return Err(refused(&format!("it demands {demand}")));
            }
            sum = sum.saturating_add(slices);
            if sum > due.capacity() {
                let capacity = due.capacity();
                return Err(refused(&format!("together with those before it {sum} of {capacity} slices")));
            }
            allocated[user] = slices;
        }
        Ok(())
    }
}

impl Mechanism for Asked<'_> {
    fn name(&self) -> &'static str {
        "somebody else's"
    }

    fn admit(&mut self, due: &Entitlement) -> Result<(), MechanismError> {
        self.due = Some(due.clone());
        Ok(())
    }

    fn allocate(&mut self, demands: &[u64], allocated: &mut [u64]) {
        if self.failure.is_none() {
            self.failure = self.answer(demands, allocated).err();
        }
        self.position += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Conduct, MaxMin, Reports, Run, Ties};
    use fairplan_instances::{FairShares, generate};

    /// Gives by a function.
    struct By<F>(F, bool);

    impl<F: FnMut(Quantum<'_>) -> Result<Vec<i64>, String>> Divider for By<F> {
        fn divide(&mut self, quantum: Quantum<'_>) -> Result<Vec<i64>, String> {
            (self.0)(quantum)
        }
        fn is_beyond_demand(&self) -> bool {
            self.1
        }
    }

    fn run(shares: &FairShares) -> Run<'_> {
        let conduct = Conduct { non_conformant: &[false; 3], reports: Reports::Truthful };
        Run { shares, conduct, cache: None, per_quantum: true }
    }

    fn told(beyond: bool, slices: [i64; 3]) -> String {
        let (series, shares) = (generate::karma_fig2().unwrap(), FairShares::PerUser(2));
        let mut divider = By(|_: Quantum<'_>| Ok(slices.to_vec()), beyond);
        run(&shares).asked("mine", &mut divider, &series).unwrap_err().to_string()
    }

    #[test]
    fn the_rule_of_ours_asked_like_one_of_others_gives_the_same() {
        let (series, shares) = (generate::karma_fig2().unwrap(), FairShares::PerUser(2));
        let mut ours = MaxMin::new(Ties::Lowest);
        let expected = run(&shares).outcome(&mut MaxMin::new(Ties::Lowest), &series).unwrap();
        let mut divider = By(
            |quantum: Quantum<'_>| {
                let mut slices = vec![0; 3];
                ours.admit(quantum.due).map_err(|error| error.to_string())?;
                ours.allocate(quantum.demands, &mut slices);
                Ok(slices.into_iter().map(|slices| slices as i64).collect())
            },
            false,
        );
        let found = run(&shares).asked("mine", &mut divider, &series).unwrap();
        assert_eq!(format!("{:?}", found.quanta), format!("{:?}", expected.quanta));
    }

    #[test]
    fn slices_that_cannot_be_name_mechanism_quantum_and_user() {
        let start = "mechanism mine: quantum 0: ";
        assert_eq!(told(false, [-1, 0, 0]), format!("{start}A gets -1: must be >= 0"));
        let more = told(false, [0, 99, 0]);
        assert!(more.starts_with(&format!("{start}B gets 99: it demands ")), "{more}");
        assert_eq!(
            told(true, [3, 3, 3]),
            format!("{start}C gets 3: together with those before it 9 of 6 slices")
        );
    }

    #[test]
    fn a_mechanism_that_fails_is_not_asked_again() {
        let (series, shares) = (generate::karma_fig2().unwrap(), FairShares::PerUser(2));
        let mut times = 0;
        let mut divider = By(
            |_: Quantum<'_>| {
                times += 1;
                Err("no idea".into())
            },
            false,
        );
        let told = run(&shares).asked("mine", &mut divider, &series).unwrap_err().to_string();
        assert_eq!((told.as_str(), times), ("mechanism mine: quantum 0: no idea", 1));
        let mut short = By(|_: Quantum<'_>| Ok(vec![0]), false);
        let told = run(&shares).asked("mine", &mut short, &series).unwrap_err().to_string();
        assert!(told.contains("1 number for 3 users"), "{told}");
    }
}
