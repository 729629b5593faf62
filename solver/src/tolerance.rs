//! Every tolerance of this crate: what it decides, in which unit, and why it has this size.
//!
//! Three sizes recur. A double has 2e-16 of its value, and sums of many terms some 1e-14. What is *promised* of a solution is
//! 1e-9; what others build on is solved a tenth as far or less. In between rounding may be large beside a vanishing
//! number, so that whether one vanishes is decided some orders above rounding and below what is promised.
//!
//! How hard to try (steps, rounds, sizes of bins) is no tolerance, and stands where it is used.

pub use level::TOLERANCE;

/// The interior-point loop, whatever it solves.
pub(crate) mod interior_point {
    /// The least part of the products that a step aims at: less is not told from none by a predictor of first order.
    pub(crate) const LEAST_CENTRING: f64 = 1e-6;
    /// Parts of the way to the nearest bound that a step goes, at least and at most: on the bound there is no next step.
    pub(crate) const STEP_PART: (f64, f64) = (0.9, 0.9995);
    /// Parts of a step that count as none: what is gained is lost again in rounding.
    pub(crate) const SHORTEST_STEP: f64 = 1e-10;
    /// A run that ends with a larger gap than the first, and than so many times what was asked for, has lost its way: what is
    /// promised, and more than the last digits of a gap.
    pub(crate) const LOST: (f64, f64) = (1e-9, 10.0);
    /// A pivot below this part of its diagonal is what cancelling left of it, a few roundings.
    pub(crate) const LOST_PIVOT: f64 = 1e-15;
}

/// Levels of a max-min.
pub(crate) mod level {
    /// The relative gap up to which a solution is called optimal: what is promised, and what `verify` accepts.
    pub const TOLERANCE: f64 = 1e-9;
    /// The same for a level above the first, with what the levels below it leave uncertain: ten of those.
    pub(crate) const UNCERTAINTY: f64 = 1e-8;
    /// The part of a limit that may be left by one that is used up: `verify` accepts ten times it, and refuses to pass over a tenth.
    pub(crate) const LIMIT_USED_UP: f64 = 1e-7;
    /// The relative gap at which a level counts as closed: a tenth of what is promised, because later levels build on it.
    pub(crate) const CLOSED: f64 = 1e-10;
    /// The relative gap asked of the small problem of a later round, in parts of the last round's gap: its own gap must not
    /// show beside that.
    pub(crate) const AHEAD: f64 = 1e-4;
    /// The part of the highest price by which those of classes in one pool may differ: coarse bins tell prices no better, and classes
    /// that do not belong together come apart.
    pub(crate) const SAME_POOL: f64 = 1e-2;
    /// The gap at which pools are divided for the first time.
    pub(crate) const COARSE: f64 = 1e-4;
    /// The part of what is to run in a pool that may be left when it is divided: as much as [`CLOSED`] leaves.
    pub(crate) const IN_A_POOL: f64 = 1e-10;
    /// The relative gap asked of the small problem of a round over pools, in parts of the gap that is aimed at: it must not show beside that.
    pub(crate) const AHEAD_OF_GOAL: f64 = 1e-2;
    /// Less than this part of what a group runs in one pool is next to nothing in another: of the largest bins together with the smallest
    /// classes a part of [`IN_A_POOL`].
    pub(crate) const NOT_RUN: f64 = 1e-13;
    /// The finest that is asked for: what doubles allow.
    pub(crate) const FINEST: f64 = 1e-14;
    /// Part of the share that a level gave it which a user may lose to the levels above: a tenth of what is promised.
    pub(crate) const SHORTFALL: f64 = 1e-10;
    /// How much more than it has a user frozen on a level may be left to have by the prices of that level, in parts of what
    /// its gains are measured by: its share, but no more than [`MEASURED`]. Where a task needs next to nothing of what is used up, prices that are
    /// right to the last digit leave it open. The checker lets pass a little more.
    pub(crate) const FREEZING: f64 = 9e-3;
    /// The share by which gains are measured where users have more: [`FREEZING`] of it is a millionth of the cluster.
    pub(crate) const MEASURED: f64 = 1e-4;
    /// The part of what all capacity is worth that is rounding, where millions of doubles add up: who needs what is clearly priced
    /// is held, though it be so small that this would be a gain. The checker lets pass a little more.
    pub(crate) const ROUNDED: f64 = 9e-13;
    /// The part of the highest price, each for all there is of its resource, from which on a price is clear: a little more than the
    /// checker asks for.
    pub(crate) const CLEARLY: f64 = 1.1e-3;
    /// How far tasks may be from all run, in parts of the share that they give, to leave nothing to gain.
    pub(crate) const ALL_TASKS: f64 = 1e-6;
    /// Costs below this part of what all capacity is worth can be paid from what [`TOLERANCE`] leaves of a level.
    pub(crate) const HIDDEN: f64 = 1e-8;
    /// The rounding of what is left of the capacity's worth, in parts of that worth: a sum of a few rounded numbers.
    pub(crate) const ROUNDING: f64 = 8.0 * f64::EPSILON;
    /// A row that costs less than this part of all capacity has the price that an interior point leaves where there is none.
    pub(crate) const UNPRICED: f64 = 1e-12;
    /// Products of what is left and what it costs, as a part of what all capacity costs, below which steps follow rounding.
    pub(crate) const EXHAUSTED: f64 = 1e-21;
    /// Products below this part of the gap cannot be what makes it: what is left of it is rounding.
    pub(crate) const EXPLAINED: f64 = 1e-3;
    /// Where refinement moves a solution of the Schur complement by less than this part of it, others by the same factors go
    /// without: what they lack is far below what the next step makes up for.
    pub(crate) const REFINED: f64 = 1e-11;
    /// Gaps below the first are near rounding: a run ends after so many steps without half of it.
    pub(crate) const SMALL: (f64, u64) = (1e-11, 2);
    /// The gap at which a run of a large system ends once what is left of it is rounding: a tenth of what is proved.
    pub(crate) const GOOD_ENOUGH: f64 = 1e-10;
    /// The part of its share that a settled group may miss before the penalty for that grows: a tenth of [`SHORTFALL`].
    pub(crate) const MISSED: f64 = 1e-11;
    /// Prices and multipliers move as if what is left of a row were more by this part of it. Where it vanishes, the
    /// right-hand side of its row is rounding, which would otherwise become a large step along a direction in which
    /// nothing is determined. What a step leaves unsatisfied this way is of the order of this times the step, and the next
    /// residual takes it up.
    pub(crate) const PROXIMAL: f64 = 1e-5;
    /// A class on which tasks do this much more than the level, relative to it, lets a group rise: what is promised.
    pub(crate) const FASTER: f64 = 1e-9;
    /// The part by which a level that is nearly known is taken to be lower: above what two solutions differ by, and few users' tasks run
    /// out between.
    pub(crate) const NEARLY_KNOWN: f64 = 1e-6;
    /// The part of its share that a settled group may lack where a level is solved in whole numbers: what it needs is known but for so much
    /// rounding, and all of it may be more than there is.
    pub(crate) const SETTLED: f64 = 64.0 * f64::EPSILON;
    /// Tasks that run out this little above the level, relative to it, run out at the level: where servers or a task row hold the
    /// level back just there, rounding decides which of the two is larger.
    pub(crate) const AT_THE_LEVEL: f64 = 1e-9;
    /// A class is closed to users with task rows when it costs at least this part of what all capacity does; below, its
    /// price proves too little about those that rise further.
    pub(crate) const CLEARLY_PRICED: f64 = 1e-3;
    /// Everybody has its share when this part of it is missing: below [`CLOSED`], which the level itself is solved to.
    pub(crate) const MISSING: f64 = 1e-11;
    /// Where all that rise come to this part of the cluster, they do not rise: the level problem ends where it begins.
    pub(crate) const NO_RISE: f64 = 1e-9;
    /// Then a level this part above where their lines begin is there.
    pub(crate) const BEGINS: f64 = 1e-10;
    /// Where settled users lack more than this part of their shares, those who rise took it: the level is not to be believed.
    pub(crate) const TAKEN: f64 = 1e-9;
    /// By how much of the cluster more prices are asked for then: little beside what others have, much beside rounding.
    pub(crate) const ABOVE: f64 = 1e-5;
    /// The part of the cluster below which what floors leave is their rounding.
    pub(crate) const NOTHING_LEFT: f64 = 1e-12;
    /// Guarantees of which this part cannot be kept count as kept: what the checker lets a user lack is ten times as much.
    pub(crate) const KEPT: f64 = 1e-10;
    /// The two sides of what a search brackets are one when they are this near, relative to them: two roundings.
    pub(crate) const MEET: f64 = 2.0 * f64::EPSILON;
    /// A level this little beyond a piece of the filling, relative to it, is on its end: rounding of the break.
    pub(crate) const PIECE: f64 = 1e-12;
    /// The part of a level by which the checker moves it to see what one level costs.
    pub(crate) const STEP: f64 = 1e-6;

    /// How near, as a part, two levels are that are told as one where limits are met that follow from shares: some hundred roundings, and
    /// far within [`TOLERANCE`].
    pub(crate) const TOGETHER: f64 = 1e-13;
    /// A limit of more than this many times the tasks that could run at all is none: enough above one for the roundings of
    /// both.
    pub(crate) const OUT_OF_REACH: f64 = 1.0 + 1e-9;
    /// A resource of which less than this part of a server is left is used up (DRF inside each server).
    pub(crate) const USED_UP: f64 = 1e-12;
}

/// From splits to tasks.
pub(crate) mod allocation {
    /// Rounding between a group's load and the sum of its users' printed tasks, as a part of it: about thirty operations of
    /// half a unit in the last place each, the sums being compensated.
    pub(crate) const MARGIN: f64 = 16.0 * f64::EPSILON;
    /// Part of the tasks of a group or user that is dropped with the specks an interior point leaves on unused classes.
    pub(crate) const SPECKS: f64 = 1e-14;
    /// A user that has all but this part of its tasks running has them all, and is held by that: half of what is promised. `verify` says so from a
    /// tenth of that on.
    pub(crate) const ALL_TASKS: f64 = 5e-10;
    /// Whoever lacks no more than this part of its tasks in a sum is given them where there is room: it may be worth too little for doubles to tell.
    pub(crate) const NEARLY_ALL_TASKS: f64 = 1e-6;
    /// Part of a class that is no speck, however little it is to who has it.
    pub(crate) const FILLS: f64 = 1e-6;
}

/// Sums in many digits.
pub(crate) mod digits {
    /// Bits beyond three times those that users are worth apart (with twice as many the last steps come to no end), and the most of the latter: 10^289, which doubles still hold.
    pub(crate) const DIGITS: (f64, f64) = (256.0, 960.0);
    /// What is open of each user in the end, in parts of what it is worth.
    pub(crate) const ENOUGH: f64 = 1e-10;
    /// The part of what is near that a user begins with, and that of each class that all have besides.
    pub(crate) const FIRST_PART: f64 = 0.9;
    pub(crate) const ASIDE: f64 = 0.05;
    /// The part of the way to the nearest bound that a step goes, and the least part of the products that it aims at: many digits let it be bold.
    pub(crate) const STEP_PART: f64 = 0.999;
    pub(crate) const LEAST_CENTRING: f64 = 1e-9;
    /// The part of what it has that a user may lose in a step: what it is worth to it rises by a power of that, and comes down step by step.
    pub(crate) const LOST_PART: f64 = 0.5;
}

/// Sums over users.
pub(crate) mod sum {
    /// The relative gap at which a sum counts as closed: half of what is promised, for what rounding may add.
    pub(crate) const CLOSED: f64 = 5e-10;
    /// The relative gap of a round's small problem: the first part of the last round's, but never finer than the second.
    pub(crate) const AHEAD: (f64, f64) = (1e-5, 1e-12);
    /// Stands for the gap before the first round, and where the prices of a sample are known.
    pub(crate) const FIRST_GAP: f64 = 1e-3;
    pub(crate) const GUESSED_GAP: f64 = 1e-6;
    /// Above this α a solution in which some group's gap is this part of its own worth is followed by others on the way from
    /// this α to its own: less wide ones close by themselves.
    pub(crate) const STAGES: (f64, f64) = (2.0, 1e-5);
    /// Roundings by which users without a limit count as worth less than they pay, in units of the last place: more than a
    /// check makes, since a user whose limit is out of reach would gain by any number of tasks.
    pub(crate) const SHADED: f64 = 64.0;
    /// Below twice the accuracy asked for, or this, rounding takes over: a run ends after so many steps without half of it.
    pub(crate) const SMALL: (f64, u64) = (1e-11, 3);
    /// Stands for α where it divides: so small that α = 0 is the linear program itself.
    pub(crate) const LEAST_ALPHA: f64 = 1e-20;
    /// A row that costs less than the first part of all capacity, and of which the second part is left, has no price.
    pub(crate) const UNPRICED: (f64, f64) = (1e-12, 1e-4);
    /// The part of what a group pays for a class that it would not miss: a class that is cheaper by it proves that much less.
    pub(crate) const UNNOTICED: f64 = 1e-11;
    /// What groups that are worth next to nothing together count as in parts of the largest, where they shall not be lost: a tenth of what
    /// is promised of all.
    pub(crate) const NOTICED: f64 = 1e-10;
    /// By how much rows may be broken and columns be worth more than they cost, where all numbers are parts of one.
    pub(crate) const LINEAR: f64 = 1e-12;
    /// What all users together would gain by other points than they have, in parts of what all are worth, for more points to be needed: a
    /// hundredth of what is promised.
    pub(crate) const BETTER: f64 = 1e-11;
    /// The same on the way to a large α, where what is found is only begun with.
    pub(crate) const NEARLY: f64 = 1e-3;
    /// A residual below this part of its row is rounding, which a step would only make larger.
    pub(crate) const ROUNDING: f64 = 1e-14;
    /// Relative changes of a share below this are worked out by a series: terms of first order cancel too many digits.
    pub(crate) const SERIES: f64 = 1e-4;
    /// What a user's share counts as worth at the least, and as expected to cost, in parts of the mean cost. The one must
    /// be next to nothing, the other is but a weight.
    pub(crate) const LEAST_WORTH: f64 = 1e-12;
    pub(crate) const LEAST_COST: f64 = 1e-6;
    /// The least part of what an average group pays that one counts as paying, where steps begin: a weight of products, no more.
    pub(crate) const LEAST_PART: f64 = 1e-12;
    /// Amounts are at least this: a user whose demand is too small for a double still takes part.
    pub(crate) const LEAST_AMOUNT: f64 = 1e-200;
    /// A group with less than this part of its tasks not running has them all.
    pub(crate) const TASKS_LEFT: f64 = 1e-6;
    /// Users without prices for their tasks may pay this part more or less than their shares are worth at the margin.
    pub(crate) const BALANCED: f64 = 1e-10;
    /// A share this part above what is guaranteed is barely above it: what the checker counts so.
    pub(crate) const BARELY: f64 = 1e-4;
    /// What may be taken of a class without a loss that the others notice, in parts of it: at α = 64 a fifteenth of what is promised.
    pub(crate) const NO_LOSS: f64 = 1e-12;
    /// The gap to which users with kinds and groups are solved for, and the gap below which a run ends after so many steps without half.
    pub(crate) const KINDS: (f64, f64, u64) = (1e-13, 1e-9, 5);
    /// The part of a row or of a kind's share that rounding may take of it or add to it before that is made up for.
    pub(crate) const EVEN: f64 = 1e-13;
    /// The rounding of what a pair costs, in parts of it: a sum of a few products.
    pub(crate) const ROUNDED: f64 = 8.0 * f64::EPSILON;
    /// The part of what it has by which a user may miss what it would take at the prices of what is used up, and the part of a row that may be
    /// left of one that is used up: half of what the checker lets pass.
    pub(crate) const OWN: f64 = 5e-3;
    /// A row is paid for by a user of whose tasks at least this part run there, and whose price there it is this part of at least: less is what
    /// an interior point leaves where there should be none.
    pub(crate) const PAYS: f64 = 1e-3;
    /// Who pays less than this part of what somebody else does is known too roughly to be settled by the same sum.
    pub(crate) const SHOWS: f64 = 1e-6;
    /// Nobody pays this part of what anybody does for something else than it would take, or misses no more of that than the other: a tenth of the gap.
    pub(crate) const LITTLE: f64 = 1e-10;
    pub(crate) const EXACT: f64 = 1e-6;
    /// Whoever pays less than this part counts by no less than that would.
    pub(crate) const MOST: f64 = 1e-3;
    /// Who has all its tasks, and would at a price this many times as high, counts as one that would at the other price.
    pub(crate) const FAR: f64 = 1e4;
    pub(crate) const ENOUGH: f64 = 10.0;
    /// Who is worth less than this part of what somebody else is may have a hundredth more or less, and the gap of the whole says nothing of it.
    pub(crate) const TOLD: f64 = 1e-6;
    /// By how much the sum of logarithms of shares is larger where others are left more: a thousandth of what one has.
    pub(crate) const LEAVES_MORE: f64 = 1e-3;
    /// Who keeps what it has may have more by this part of it: room for an interior point.
    pub(crate) const ABOVE_KEPT: f64 = 1e-9;
    /// By how much more who would not have them after all counts from sum to sum.
    pub(crate) const MORE: f64 = 100.0;
    /// Shares below this, a millionth of the cluster, are as good as none where α is below one, and nobody needs anything.
    pub(crate) const NOBODY_NEEDS: f64 = 1e-6;
    /// Capacity of which at least this part is left is not used up: far more than a solved sum leaves of what has a price.
    pub(crate) const USED_UP: f64 = 1e-6;
}

/// Sums over users by prices alone.
pub(crate) mod market {
    /// Part of all capacity's worth that may be unsold or sold twice: far below what is promised of the whole.
    pub(crate) const CLOSED: f64 = 2e-11;
    /// Users count as undecided that would change classes if prices changed by so many times what they still do, within
    /// these bounds: below the first prices are right anyway, above the second there is no telling.
    pub(crate) const UNDECIDED: (f64, f64, f64) = (10.0, 1e-9, 0.05);
    /// Products of what is left and what it costs at which a user counts as decided, in parts of what it pays; and a hundred
    /// times as much for equations that are missed.
    pub(crate) const DECIDED: f64 = 1e-14;
    /// Parts of a step that count as none.
    pub(crate) const SHORTEST_STEP: f64 = 1e-8;
    /// Centring in parts of what a row is worth on average: at first, from step to step, and at last.
    pub(crate) const CENTRING: (f64, f64, f64) = (1e-2, 0.1, 1e-12);
    /// The same at first where prices are those of a sample.
    pub(crate) const AFTER_SAMPLE: f64 = 1e-5;
    /// Prices are found once they change by less than the first part, or by less than the second and not by much less than
    /// the step before: what is left is up to users who are undecided.
    pub(crate) const FOUND: (f64, f64) = (1e-7, 1e-2);
    /// Rows that are worth less than this part of the mean do not count for that.
    pub(crate) const WORTHLESS: f64 = 1e-6;
}

/// Bottleneck max fairness.
pub(crate) mod bottleneck {
    /// How far the definition may be missed for a solution to count as found, in parts of a share or a capacity.
    pub(crate) const FOUND: f64 = 1e-10;
    /// A relative step below this changes nothing but the last digits.
    pub(crate) const LAST_DIGITS: f64 = 1e-15;
    /// Singular values below this part of the largest are zero: along them solutions form a continuum, and the nearest one
    /// is as good as any.
    pub(crate) const SINGULAR: f64 = 1e-12;
    /// A resource that holds nobody may be overloaded by this part until it gets a level of its own.
    pub(crate) const OVERLOADED: f64 = 1e-12;
    /// The relative perturbation of the first path; each later one is ten times as large.
    pub(crate) const PERTURBATION: f64 = 1e-9;
    /// Users whose ratios differ by less than this part turn together: for them it is one turn.
    pub(crate) const SAME_RATIO: f64 = 1e-13;
}

/// Rates of transactions.
pub(crate) mod sharing {
    /// How far the conditions that define an allocation may be missed, in parts of a resource.
    pub(crate) const FOUND: f64 = 1e-10;
    /// A step goes to all but this part of the way to where a price or a slack would be zero.
    pub(crate) const NEVER_ALL: f64 = 1.0 - 1e-8;
    /// Products and residuals at which steps end: a price and a slack that are both zero at the solution are known to the
    /// root of the former.
    pub(crate) const COMPLEMENTARY: f64 = 1e-22;
    pub(crate) const RESIDUAL: f64 = 4e-15;
    /// What keeps the factor of a singular matrix finite, in parts of its largest entry.
    pub(crate) const RIDGE: f64 = 1e-15;
}

/// Demands known in advance, in slices.
pub(crate) mod offline {
    /// The relative gap between the totals and what the levels allow that is aimed at: a fifth of what `verify` accepts.
    pub(crate) const GOAL: f64 = 2e-10;
    /// Part of a quantum's slices that may be left over or missing; the next round finds it again.
    pub(crate) const PRECISION: f64 = 1e-14;
    /// A user whose multiplier is above this part of the mean one is held by its level for certain: HiGHS knows 1e-10.
    pub(crate) const CLEARLY_POSITIVE: f64 = 1e-6;
    /// What is left of the totals of lower levels for rounding.
    pub(crate) const KEPT: f64 = 1.0 - 1e-9;
}

/// Tasks over server classes, quantum by quantum.
pub(crate) mod over_time {
    /// The relative gap of a level that is aimed at.
    pub(crate) const GOAL: f64 = 1e-9;
    /// A gap that is good enough where rounding keeps it from closing further: a tenth of what `verify` accepts.
    pub(crate) const CLOSE: f64 = 1e-7;
    /// A gap from which on points are worth coming back to.
    pub(crate) const NEAR: f64 = 1e-3;
    /// A level is as good as its bound when it is within this part of it.
    pub(crate) const SAME: f64 = 2e-9;
    /// A rise by this part of a unit is next to nothing.
    pub(crate) const HARDLY: f64 = 1e-10;
    /// What is missing of a share, in parts of the level, for its penalty to count as used up; and how far tasks may be from
    /// all run, in parts of them, to count as run. As [`CLOSE`], which the point itself is solved to.
    pub(crate) const MISSED: f64 = 1e-7;
    /// As in [`super::interior_point`]: products far below the others vanish long before them, which many quanta in one
    /// system do not survive; so steps aim higher and all go the same part of the way (a tenth faster, measured).
    pub(crate) const LEAST_CENTRING: f64 = 1e-3;
    pub(crate) const STEP_PART: (f64, f64) = (0.995, 0.995);
    /// The finest that HiGHS's simplex accepts: tolerances, and entries that count.
    pub(crate) const SIMPLEX: f64 = 1e-10;
    pub(crate) const SMALLEST_ENTRY: f64 = 1e-12;
    /// The largest part of what it has that a user may have left beyond by the prices that freeze it: less than is checked.
    pub(crate) const FREEZING: f64 = 8e-4;
    /// Parts of a step that count as none: with shorter ones points get worse by rounding, not better.
    pub(crate) const SHORTEST_STEP: f64 = 1e-6;
    /// Part of its terms that is added to a diagonal: more than their rounding, so that multipliers which nothing decides
    /// stay where they are.
    pub(crate) const REGULARISATION: f64 = 1e-13;
    /// What is left of a demand's multiplier, at least, when its worth falls: it must stay above zero.
    pub(crate) const LEFT_OF_WORTH: f64 = 1e-3;
    /// Part of what runs that is left out so that nothing is overloaded: sums of some hundred tasks a class.
    pub(crate) const MARGIN: f64 = 1e-13;
    /// Part of all guaranteed tasks that is left open, for whoever has no other tasks to rise in.
    pub(crate) const LEFT_OPEN: f64 = 1e-6;
    /// Part by which a user may have more than it can pay for: what a level is solved to.
    pub(crate) const UNPAID: f64 = 1e-9;
    /// Shares below this are rounding of the whole, which nobody donated.
    pub(crate) const NO_DONATION: f64 = 1e-12;
    /// Part of what is due to donors that bisection may miss.
    pub(crate) const BISECTED: f64 = 1e-12;
    /// Users who lack no more than this part of what is due to them are left as they are: it may not be there.
    pub(crate) const LACKING: f64 = 3e-8;
    /// More than the roundings of a bound, in parts of it.
    pub(crate) const ROUNDINGS: f64 = 64.0 * f64::EPSILON;
    /// A user whose share fills less of a class than this may be held by so little that only a vertex tells.
    pub(crate) const LIGHT: f64 = 1e-6;
}

/// HiGHS, whose tolerances are absolute: programs are scaled to numbers near one.
pub(crate) mod highs {
    /// The finest feasibility tolerance that HiGHS accepts.
    pub(crate) const FEASIBILITY: f64 = 1e-10;
    /// The same for programs that are solved many times over, each a start for the next.
    pub(crate) const MASTER: f64 = 1e-9;
    /// A capacity row that takes more than this part of what all capacity costs has a price for certain.
    pub(crate) const CLEARLY_POSITIVE: f64 = 1e-9;
    /// A group whose share can exceed the level by more than the first part of it is not frozen; each is asked for at most
    /// the second part, so that room for one does not hide the room of others.
    pub(crate) const ROOM: (f64, f64) = (1e-6, 1e-3);
}

/// The simplex method. Its numbers are scaled: entries of a column are at most two.
pub(crate) mod simplex {
    /// By how much bounds may be broken, and columns be worth more than they cost, where nothing is said.
    pub(crate) const PRIMAL: f64 = 1e-9;
    pub(crate) const DUAL: f64 = 1e-9;
    /// The part of what bounds may be broken by that a step uses up for a larger pivot: rounding has the rest, so that nobody is brought back
    /// only to overstep again. What is beyond already goes no further.
    pub(crate) const GIVEN: f64 = 0.5;
    /// A smaller pivot is what cancelling left of it.
    pub(crate) const PIVOT: f64 = 1e-11;
    /// A pivot of a basis has at least this part of the largest entry of its column, so that rounding does not grow.
    pub(crate) const STABLE: f64 = 0.1;
    /// Entries below this are none: rounding of numbers about one.
    pub(crate) const VANISHES: f64 = 1e-14;
    /// Variables that move slower than this stand; an entry on the way of a column below it is no pivot.
    pub(crate) const ENTRY: f64 = 1e-9;
    /// With a smaller pivot the factors are found anew before it is believed.
    pub(crate) const SOUND: f64 = 1e-6;
    /// A step of this length that gains no more than this is none.
    pub(crate) const STANDS: f64 = 1e-12;
    /// Whole numbers that are better by less than this part are not looked for: a tenth of what is said of them.
    pub(crate) const SAME: f64 = 1e-10;
    /// By so much, once or twice, bounds are moved apart that meet in a point: more than what rows may be broken by, so that a
    /// step goes somewhere.
    pub(crate) const MOVED: f64 = 1e-6;
}

/// The best that whole tasks can do.
pub(crate) mod whole_tasks {
    /// Values of a program are known to about this part.
    pub(crate) const NOISE: f64 = 1e-9;
    /// Where searches are cut short, a bound this close to what the patterns reach is good enough.
    pub(crate) const CLOSE: f64 = 1e-6;
    /// Where so many rounds raise the mix by less than this part, more of them will not help.
    pub(crate) const SLOW: (usize, f64) = (20, 1e-5);
    /// By this part sizes in doubles count as larger: a sum of at most eight products is rounded by far less.
    pub(crate) const SIZES: f64 = 1.0 + 1e-12;
    /// Fewer servers than this hold nothing of a pattern: the program says zero this way.
    pub(crate) const NO_SERVERS: f64 = 1e-9;
    /// So little below a whole number of servers is that number.
    pub(crate) const WHOLE: f64 = 1e-7;
    /// So little above a whole number of tasks is that number; exact numbers decide afterwards.
    pub(crate) const WHOLE_TASKS: f64 = 1e-9;
    /// Levels of a tree of groups that differ by less than this part are one, and so little off a whole number of tasks is that
    /// number: half of what the checker allows a bound in groups.
    pub(crate) const LEVELS: f64 = 5e-10;
    /// While servers are filled by moves: a bound in doubles is off by less than this part.
    pub(crate) const OFF: f64 = 1e-9;
    /// The same: tasks and servers of a program below this are none, and a number that misses a whole one by less is whole.
    pub(crate) const NO_TASKS: f64 = 1e-6;
    /// A sum of logarithms a unit of weight is larger by more than this, or it is not: rounding of a few logarithms is far less.
    pub(crate) const MORE: f64 = 1e-12;
    /// Where one resource is to be taken: rooms are worth this part more than their prices say, since values of tasks are rounded to whole
    /// numbers.
    pub(crate) const UPWARDS: f64 = 1e-7;
}

/// What to buy.
pub(crate) mod planning {
    /// Rows may be short by this part of what they ask for: a level that is proved to 1e-9 counts as reached.
    pub(crate) const SLACK: f64 = 1e-9;
    /// By how much HiGHS may break a row.
    pub(crate) const ROW: f64 = 1e-9;
    /// Part by which what is spent may exceed a budget in doubles; in decimals it does not.
    pub(crate) const SPENT: f64 = 1e-12;
    /// Fractions of servers that reach all but this part are near enough to look at whole ones.
    pub(crate) const NEAR: f64 = 1e-7;
    /// A fraction so little above a whole number is that number; the same in parts of a server.
    pub(crate) const WHOLE: f64 = 1e-9;
    pub(crate) const WHOLE_PARTS: f64 = 1e-6;
    /// Prices of a new type go up by this part, twice what its rows may miss: nobody then pays less on it.
    pub(crate) const COMPLETED: f64 = 2e-9;
    /// A cost this part above the bound is as low as can be proved.
    pub(crate) const CHEAPEST: f64 = 1e-9;
}

/// Solving in fractions. Doubles only point the way; what they are mistaken in costs a pivot.
pub(crate) mod exact {
    /// Costs this part above the least are not least.
    pub(crate) const DEAR: f64 = 1e-6;
    /// A row with less than this part of all that rows are worth has no price; the same over several quanta, which are less sharp.
    pub(crate) const UNPRICED: f64 = 1e-9;
    pub(crate) const UNPRICED_OVER_TIME: f64 = 1e-7;
    /// Levels this near are one.
    pub(crate) const SAME: f64 = 1e-9;
    /// Work that moves by less than this part of what moves stays where it is: rounding of the inverse.
    pub(crate) const LITTLE: f64 = 1e-12;
    /// Steps that differ by less than this part of the whole end at once: then the surest pivot is taken.
    pub(crate) const ALIKE: f64 = 1e-12;
    /// Entries below this part of the largest do not move anything.
    pub(crate) const NOTHING: f64 = 1e-9;
    /// What everybody has less of by this part where the rounding of loads asks for it, the first that is enough.
    pub(crate) const THINNED: [f64; 4] = [0.0, 2e-15, 1e-14, 1e-12];
    /// A part of a user's work that is rounding.
    pub(crate) const SPECK: f64 = 1e-12;
    /// The rounding of a cost in doubles, far more than its terms make.
    pub(crate) const ROUGHLY: f64 = 1e-9;
    /// By this part doubles are smaller where the nearest ones overload something: more than the rounding of a user's tasks, of its
    /// part on a class and of their product.
    pub(crate) const ROUNDED_DOWN: f64 = 1.0 - 8.0 * f64::EPSILON;
}
