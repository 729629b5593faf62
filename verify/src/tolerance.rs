//! Every tolerance of the checker: how much a claim may miss what is proved, in which unit, and why so much. Feasibility has
//! none: it is decided exactly. What rounds outward is no tolerance either, but how far it must go stands here too.

/// Relative gap between a level's proved bound and what is achieved, and between the two sides of the value.
pub(crate) const GAP: f64 = 1e-9;

/// Tasks that run out with less than this part of a level missing run out by it, or by the next one: ten times [`STATED`], so that who is
/// just at the level has clearly tasks for more below it.
pub(crate) const SOONER: f64 = 1e-8;

/// Whoever has all its tasks but for this part of them or less is held by its tasks, not by capacity: a tenth of [`STATED`], up to which tasks
/// that do not run may be said to run. Between the two either may be said.
pub(crate) const ALL_BUT_ROUNDING: f64 = 1e-10;

/// Relative difference between a stated number and the one that follows from the allocation and the levels.
pub(crate) const STATED: f64 = 1e-9;

/// A limit has a price where all of it is worth more than this part of all there is: solvers leave roundings of prices behind.
pub(crate) const PRICED: f64 = 1e-9;

/// Whoever is said to be above others stands above them by more than the first part of its level, whoever is not by less than the second: who says
/// so draws the line between the two.
pub(crate) const ABOVE: (f64, f64) = (5e-7, 2e-6);

/// Whoever is said to be at what it is guaranteed has more than that by less than the second part of it, whoever is not by more than the first: who
/// says so draws the line between the two, at [`STATED`].
pub(crate) const AT_FLOOR: (f64, f64) = (1e-10, 1e-8);

/// Relative difference between a stated value or bound and the proved one: both are sums of up to millions of
/// doubles, rounded differently.
pub(crate) const ROUNDING: f64 = 1e-10;

/// Relative difference between a double and the fraction that it stands for: some roundings of the number itself, and of what a user's
/// tasks are the product of.
pub(crate) const EXACT_DOUBLES: f64 = 1e-13;

/// How much more a user that capacity freezes might get while nobody with a smaller or equal weighted share
/// loses, in parts of what it has, or of the share [`MEASURED`] where it has more.
///
/// A gap of 1e-9 on a level leaves room for this: what one user could gain is the gap summed over all
/// users of the level, divided by that user's own price.
pub(crate) const FREEZING: f64 = 1e-2;

/// The dominant share above which gains are measured by this share, not by what a user has: [`FREEZING`] of it is a
/// millionth of the cluster.
pub(crate) const MEASURED: f64 = 1e-4;

/// How much of that a user that capacity freezes may take at once of what is idle and of what others have beyond the level; and the part of a
/// capacity that is idle by rounding alone.
pub(crate) const TAKEN: f64 = 1e-3;
pub(crate) const IDLE: f64 = 1e-11;

/// The part of what it has by which a user of a sum may miss what it would take at the prices of what is used up, and the part of a
/// resource or a limit that may be left of one that is used up: as [`FREEZING`], for the same reason.
pub(crate) const OWN: f64 = 1e-2;

/// The part of what all capacity is worth that is rounding, where millions of doubles add up: who needs what is clearly priced
/// is held, though it be so small that this would be a gain.
pub(crate) const ROUNDED: f64 = 1e-12;

/// The dominant share up to which a user may be so small, and by which a level may be uncertain beside guarantees. Of a user with more, [`ROUNDED`]
/// is a gain that is let pass anyway, unless prices of what it does not need are very much higher than those of what it does.
pub(crate) const HIDDEN: f64 = 1e-9;

/// The part of the highest price, each for all there is of its resource, from which on a price is clear: not what is left of
/// one that should be nothing.
pub(crate) const CLEARLY: f64 = 1e-3;

/// The parts of a limit that may be left: by one that is said to hold a user, and by one that does not hold a user that capacity is
/// said to hold. Between the two either may be said.
pub(crate) const USED_UP: (f64, f64) = (1e-6, 1e-8);

/// The part of a level by which it is moved to see what prices make of it, and by which they may miss that: where a user
/// comes to its ceiling just there, the two sides differ.
pub(crate) const SLOPE: f64 = 1e-6;

/// How far a user's tasks may be from all run, in parts of the share that they give, to leave nothing to gain; of shares
/// above this one, a millionth of the cluster.
pub(crate) const NEARLY_ALL: f64 = 1e-3;

/// How much more a user might get of a server from what nobody uses of it, in parts of what it has there.
pub(crate) const UNUSED: f64 = 1e-6;

/// The part of what a user pays for its work up to which it barely pays for its tasks, so that either may be said to limit
/// it: what a sum solved to [`GAP`] leaves uncertain of one price. The same of a share, up to which it is barely above what is guaranteed.
pub(crate) const BARELY: f64 = 1e-4;

/// What logarithms, exponentials and a handful of roundings may be off, relatively or for logarithms absolutely: a thousand
/// units in the last place and more.
pub(crate) const LOOSE: f64 = 1e-12;

/// Relative changes below this are worked out by a series, whose next term is rounding; above it, what is left of terms of
/// first order that cancel is known to this part.
pub(crate) const SERIES: f64 = 1e-4;
pub(crate) const CANCELLED: f64 = 1e-8;

/// What all users are worth in the unit of a sum's value: so far from the least and the largest doubles that whoever is worth too little for
/// one is nothing beside it.
pub(crate) const WORTH: std::ops::RangeInclusive<f64> = 1e-150..=1e150;

/// Loads are counted in steps of 2^-125 of the capacity, each rounded up: what a thousand million users have of them.
pub(crate) const COUNTED: f64 = 1e-28;

/// The part of what they are worth that users may pay more or less at prices that have a unit of their own: those are next to none beside the
/// value, to the last digit of which a sum is solved.
pub(crate) const PRICES_APART: f64 = 1e-6;

/// Prices below this count as 0 (any price may be lowered), which keeps every product clear of underflow.
pub(crate) const LEAST_PRICE: f64 = 1e-200;

/// How much of its level a user may lack in an offline optimum of slices, in parts of the level: as `GAP`.
pub const OFFLINE_TOLERANCE: f64 = 1e-9;

/// How far the value of a level of whole slices, a division of two whole numbers, may be from what it is, in parts of it.
pub(crate) const WHOLE_SLICES: f64 = 1e-15;

/// By which part of its bound a level of tasks may be short, and by which part of everything it demands a user who is on no
/// level: the interior point over all quanta loses more digits than that of one.
pub const TASK_TOLERANCE: f64 = 1e-6;

/// How much more than it has, in parts of that, a user of such a level may be left to have by the prices that freeze it: a
/// thousand times [`TASK_TOLERANCE`], since the gap of all users is one user's gain.
pub(crate) const TASK_FREEZING: f64 = 1e-3;

/// More than all roundings of a product of five factors and a sum over the resources, in parts of the result.
pub(crate) const ROUNDINGS: f64 = 64.0 * f64::EPSILON;

/// What is asked for of a purchase may be short by this part, as in the plan.
pub(crate) const SHORT: f64 = 1e-9;

/// A bound so little above a whole number of steps of the price is that number; and what the product with the step may be
/// off, so that the bound stays one.
pub(crate) const WHOLE_STEP: f64 = 1e-12;
pub(crate) const LAST_DIGIT: f64 = 1e-15;

/// The sides of a bracket of the sum of logarithms meet if they are no further apart than this for each unit of weight: what
/// servers hold is claimed with a margin of 2^-28, which makes it sooner proved.
pub(crate) const LOGARITHMS_MEET: f64 = 1e-8;

/// What is left at least of the cost of a task on a class after its roundings: demand, price over rate, `m` products and
/// their sum, fewer than `m + 4` of half a step each; one more where a kind has several pieces, for which there is room.
pub(crate) fn surely(resources: usize) -> f64 {
    1.0 - (resources + 4) as f64 * f64::EPSILON
}

/// Of whole units that a scheduler is told: by how much of a unit they may be further off than one, and their sum above what there is.
/// The answers of a solver are sums of doubles, and what is within 1e-6 of a whole number is taken as that number.
pub(crate) const WHOLE_UNITS: f64 = 1e-5;

/// The part of the cluster that a tenant of an export could have more of what is free: solvers leave a millionth, and sums of
/// utilities more where they are flat.
pub(crate) const LEFT: f64 = 1e-4;

/// What rounding adds at most to a quotient of shares.
pub(crate) const QUOTIENTS: f64 = 1e-12;

/// How near a guess usually is, in parts of it.
pub(crate) const GUESSED: f64 = 1e-12;

/// By which part of it a limit may be exceeded: answers of a solver are sums of doubles.
pub(crate) const BEYOND_LIMIT: f64 = 1e-6;

/// While costs of a server's resources are looked for, which any would do: a task is worth more than it costs if it is so by more than this
/// part of the dearest.
pub(crate) const WORTH_MORE: f64 = 1e-12;

/// There too: a task that takes less than this of a resource, in parts of the server, does not drive another out.
pub(crate) const TAKES: f64 = 1e-11;

/// By which part of both sums the difference of two sums of logarithms may be off: four roundings.
pub(crate) const OF_DIFFERENCE: f64 = 4.0 * f64::EPSILON;

/// Of those who are worth at most so much in a sum, who is worth at least the first part of it is judged, and at least the second part weighed against
/// them: all others together could gain or lose nothing that counts. Whoever is worth more than so many times as much has no less than it has: what
/// could be taken from it is rounding, of the first number mostly and of the second where doubles do not tell more.
pub(crate) const JUDGED: f64 = 1e-2;
pub(crate) const ALIKE: f64 = 1e-8;
pub(crate) const WEIGHED: [f64; 2] = [1e12, 1e10];

/// The part of a resource or a limit that is rounding where it is left: whoever is next to nothing in a sum may live on little more.
pub(crate) const NO_ROOM: f64 = 1e-10;

/// The part of what [`OWN`] is worth to who is worth least of those judged that a linear program leaves open.
pub(crate) const LEFT_OPEN: f64 = 0.1;

/// The part of what a point of such a program is worth that rounding may have put beyond the rows: with more its numbers are too far apart to say
/// anything.
pub(crate) const BEYOND: f64 = 0.1;
