//! When a cluster first misses what is asked of it as demands follow a series.

use super::TargetOptions;
use super::target::Asked;
use crate::solve::{AUTO, solver};
use crate::{Control, Error};
use fairplan_analysis::{Followed, Growth};
use fairplan_instances::wording::{counted, printable};
use fairplan_instances::{DemandSeries, Group, GroupId, Instance, Solver, User, files};

/// What grows, and what is asked for.
#[derive(Clone, Debug)]
pub struct GrowthOptions {
    /// What every user shall reach at a scale of 1. Default: nothing, which is refused.
    pub target: TargetOptions,
    /// What scales whom: `total`, `user`, `group`, or the column that scales all. Default: `user` if every user has a column, `group` if
    /// every user or a group that it is in has one, `total` if none of them has.
    pub by: Option<String>,
    /// How many of the first quanta are, on average, a scale of 1; at most all. Default: 1.
    pub base: u64,
    /// What errors call the series. Default: `the series`.
    pub series: String,
    /// What solves: one of [`BACKENDS`](crate::BACKENDS). Default: `auto`.
    pub backend: String,
}

impl Default for GrowthOptions {
    fn default() -> Self {
        let series = "the series".into();
        Self { target: TargetOptions::default(), by: None, base: 1, series, backend: AUTO.into() }
    }
}

/// So many quanta are written without being asked for: enough for a chart of years of months, or of a year of days.
pub const FEW_QUANTA: usize = 400;

/// Says when a cluster first misses what is asked of it: in each quantum the targets are scaled by the series, the mean of
/// its first quanta being 1.
///
/// ```
/// use fairplan::{Control, GrowthOptions, TargetOptions, generate, growth};
///
/// let target = TargetOptions { share: Some("0.5".parse().unwrap()), ..TargetOptions::default() };
/// let options = GrowthOptions { target, by: Some("A".into()), ..GrowthOptions::default() };
/// let growth = growth(&generate::drfh_fig1()?, &generate::karma_fig2()?, &options, &Control::none())?;
/// assert!(growth.first_missed.is_none());
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn growth(
    instance: &Instance,
    series: &DemandSeries,
    options: &GrowthOptions,
    control: &Control<'_>,
) -> Result<Growth, Error> {
    let solver = solver(&options.backend, &control.deadline)?;
    let question = Question::new(instance, series, options, &*solver, control)?;
    question.answer(&*solver, control)
}

/// What is asked for over time, of whom.
pub(super) struct Question<'a> {
    instance: &'a Instance,
    series: &'a DemandSeries,
    base: u64,
    pub asked: Asked,
    pub scaling: Scaling,
}

impl<'a> Question<'a> {
    pub fn new(
        instance: &'a Instance,
        series: &'a DemandSeries,
        options: &GrowthOptions,
        solver: &dyn Solver,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let asked = options.target.asked(&*instance.divided()?, solver, control)?;
        let scaling = Scaling::new(series, &asked.extended, options.by.as_deref(), options.base)
            .map_err(|problem| Error::input(format!("{}: {problem}", options.series)))?;
        Ok(Self { instance, series, base: options.base, asked, scaling })
    }

    /// When it is first missed.
    pub fn answer(&self, solver: &dyn Solver, control: &Control<'_>) -> Result<Growth, Error> {
        control.stage("following the series");
        let (series, scaling) = (self.series, &self.scaling);
        let sha256 = [files::sha256_hex(self.instance), files::demands_sha256_hex(series)];
        let followed = Followed {
            series,
            sha256: &sha256[1],
            scaled_by: &scaling.by,
            base: self.base,
            scale: &|quantum, user| scaling.at(quantum, user),
        };
        let Asked { extended, required, target, .. } = &self.asked;
        fairplan_analysis::growth(extended, &sha256[0], required, *target, &followed, solver)
            .map_err(|error| Error::from(error).by(&control.deadline))
    }
}

/// What scales whom, as it is asked for and stated: each user by its own column, or else by that of the nearest group that it is in.
const USER: &str = "user";
const GROUP: &str = "group";

/// The column of the nearest group with one that a user is in.
fn of_group(series: &DemandSeries, user: User<'_>, groups: &[Group]) -> Option<usize> {
    let parent = |id: &GroupId| groups[id.0].parent;
    let mut above = std::iter::successors(user.group(), parent);
    above.find_map(|id| series.user_named(&groups[id.0].id))
}

/// By how much the targets of each user are scaled in each quantum.
pub(super) struct Scaling {
    pub(super) by: String,
    /// The column of each user.
    column_of: Vec<usize>,
    /// Row-major `quanta × columns`, in parts of the base.
    scales: Vec<f64>,
    columns: usize,
}

impl Scaling {
    pub(super) fn new(
        series: &DemandSeries,
        instance: &Instance,
        by: Option<&str>,
        base: u64,
    ) -> Result<Self, String> {
        let column = |name: &str| series.user_named(name);
        let of_users: Vec<Option<usize>> = instance.users().map(|user| column(user.id())).collect();
        let of_groups: Vec<Option<usize>> = instance
            .users()
            .zip(&of_users)
            .map(|(user, own)| own.or_else(|| of_group(series, user, instance.groups())))
            .collect();
        let all = |columns: &[Option<usize>]| columns.iter().copied().collect::<Option<Vec<usize>>>();
        let lacking = |columns: &[Option<usize>]| {
            let user = instance.users().zip(columns).find(|(_, column)| column.is_none());
            user.map_or_else(String::new, |(user, _)| printable(user.id(), 60))
        };
        let (by, own, only) = match (by, all(&of_users), all(&of_groups)) {
            (None | Some(USER), Some(own), _) => (USER, Some(own), None),
            (None | Some(GROUP), _, Some(own)) => (GROUP, Some(own), None),
            (Some(USER), None, _) => {
                return Err(format!("has no column {}, which --by user needs", lacking(&of_users)));
            }
            (Some(GROUP), _, None) => {
                let id = lacking(&of_groups);
                return Err(format!(
                    "has no column for user {id} or a group that it is in, which --by group needs"
                ));
            }
            (None, ..) if of_groups.iter().any(Option::is_some) => {
                // Whoever names some would be surprised to have all of them added up.
                let named = of_groups.iter().flatten().next().map_or("", |column| series.user_id(*column));
                let (named, lacking) = (printable(named, 60), lacking(&of_groups));
                return Err(format!(
                    "column {named} is named as a user or a group is, and user {lacking} has none, nor a group that it is in; add \
                     one, or choose by what all are scaled: --by total, or --by and a column"
                ));
            }
            (None | Some("total"), ..) => ("total", None, None),
            (Some(name), ..) => {
                let unknown = || format!("has no column {name}, which --by names");
                (name, None, Some(column(name).ok_or_else(unknown)?))
            }
        };
        let quanta = series.quantum_count();
        let columns = if own.is_some() { series.user_count() } else { 1 };
        let mut scales = vec![0.0; quanta * columns];
        for quantum in 0..quanta {
            let (users, slices) = series.demands(quantum);
            for (user, slices) in users.iter().zip(slices) {
                match (&own, only) {
                    (Some(_), _) => scales[quantum * columns + *user as usize] = *slices as f64,
                    (None, Some(only)) if only != *user as usize => {}
                    (None, _) => scales[quantum] += *slices as f64,
                }
            }
        }
        let first = usize::try_from(base).ok().filter(|first| *first <= quanta).ok_or_else(|| {
            format!("--base {base}: the series has {}", counted(quanta as u64, "quantum", "quanta"))
        })?;
        for column in 0..columns {
            let mean = (0..first).map(|q| scales[q * columns + column]).sum::<f64>() / first as f64;
            // What nobody follows asks for nothing.
            if own.as_ref().is_some_and(|own| !own.contains(&column)) {
                (0..quanta).for_each(|q| scales[q * columns + column] = 0.0);
                continue;
            }
            if mean == 0.0 {
                let name = if own.is_some() { printable(series.user_id(column), 60) } else { by.into() };
                let problem = format!(
                    "{name} is 0 in the first {first} quanta, which shall be a scale of 1; take more"
                );
                return Err(format!("--base {base}: {problem}"));
            }
            for q in 0..quanta {
                scales[q * columns + column] /= mean;
            }
        }
        let column_of = own.unwrap_or_else(|| vec![0; instance.user_count()]);
        Ok(Self { by: by.into(), column_of, scales, columns })
    }

    pub(super) fn at(&self, quantum: usize, user: usize) -> f64 {
        self.of_columns(quantum)[self.column_of[user]]
    }

    /// The scales of a quantum: one that all users have, or one a column, 0 of those that nobody follows.
    pub(super) fn of_columns(&self, quantum: usize) -> &[f64] {
        &self.scales[quantum * self.columns..][..self.columns]
    }

    /// The column that scales a user.
    pub(super) fn column_of(&self, user: usize) -> usize {
        self.column_of[user]
    }
}
