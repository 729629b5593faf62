//! How numbers are written for people, in a terminal and on a page alike: one way for each kind of number. Results in files
//! keep every digit. What is told as a bound is rounded to the side on which it stays one.

use crate::names::cut;
use crate::tolerance::{HALF, SAME, SHORTEST_SPAN};
use fairplan_instances::table::{Cell, Column, Kind};
pub(crate) use fairplan_instances::wording::{counted, thousands};
use fairplan_instances::wording::{grouped, printable};

/// To which side a number is rounded for people.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rounded {
    Nearest,
    /// What is said to be so much at most.
    Up,
    /// What is said to be so much at least.
    Down,
}

impl Rounded {
    /// The number that has so many decimals, on this side; what rounding left of a round number is that number.
    fn to(self, value: f64, places: i32) -> f64 {
        let power = 10f64.powi(places);
        let (scaled, hair) = (value * power, (value * power).abs() * SAME);
        match self {
            Self::Up if scaled.is_finite() => (scaled - hair).ceil() / power,
            Self::Down if scaled.is_finite() => (scaled + hair).floor() / power,
            _ => value,
        }
    }

    /// A [`number`].
    pub fn number(self, value: f64) -> String {
        // Six digits.
        let places = if value == 0.0 { 0.0 } else { 5.0 - value.abs().log10().floor() };
        number(self.to(value, places as i32))
    }

    /// A [`percent`].
    pub fn percent(self, part: f64) -> String {
        percent(self.to(part * 100.0, 2) / 100.0)
    }

    /// A [`share`].
    pub fn share(self, part: f64) -> String {
        let percentage = part * 100.0;
        // Two decimals, and three digits where it is less than one.
        let small = percentage != 0.0 && percentage.abs() < 0.995;
        let places = if small { 2.0 - percentage.abs().log10().floor() } else { 2.0 };
        match part > FAR_ABOVE {
            true => format!("{}%", self.number(percentage)),
            false => share(self.to(percentage, places as i32) / 100.0),
        }
    }

    /// An amount of [`money`] that has the decimals in which it is told.
    pub fn of_money(self, amount: f64) -> f64 {
        self.to(amount, decimals_of_money(amount))
    }
}

/// An amount without a unit of its own (tasks, prices, rates): six significant digits, thousands apart.
pub(crate) fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let magnitude = value.abs().log10().floor();
    if !(-5.0..15.0).contains(&magnitude) {
        return format!("{value:.5e}");
    }
    let places = (5.0 - magnitude).max(0.0) as usize;
    let fixed = format!("{value:.places$}");
    let fixed = if fixed.contains('.') { fixed.trim_end_matches('0').trim_end_matches('.') } else { &fixed };
    grouped(fixed)
}

/// A part of a capacity, or by how much something falls short: a percentage with two decimals; what rounds to zero has no
/// sign. A half is rounded away from zero, also where it came out a hair below: the same share has the same text by every way to it.
pub(crate) fn percent(part: f64) -> String {
    let hundredths = (part * 10_000.0 * (1.0 + HALF)).round();
    format!("{:.2}%", if hundredths == 0.0 { 0.0 } else { hundredths / 100.0 })
}

/// A user's share of a cluster: a percentage with two decimals, and with three significant digits where it is below one
/// percent, as shares of clusters with many users are; a half is rounded as in [`percent`]. Far above the whole cluster it is a share over a small weight, with six digits.
pub(crate) fn share(part: f64) -> String {
    if part > FAR_ABOVE {
        return format!("{}%", number(part * 100.0));
    }
    let percentage = part * 100.0 * (1.0 + HALF);
    if percentage == 0.0 || !percentage.is_finite() || percentage.abs() >= 0.995 {
        return percent(part);
    }
    let digits = format!("{percentage:.2e}");
    let magnitude =
        digits.split_once('e').and_then(|(_, exponent)| exponent.parse::<i32>().ok()).unwrap_or(0);
    match usize::try_from(2 - magnitude) {
        Ok(places) if places < 10 => format!("{percentage:.places$}%"),
        _ => format!("{digits}%"),
    }
}

/// So many clusters.
const FAR_ABOVE: f64 = 10.0;

/// Money: whole amounts in thousands, others with cents, and below a thousand with six digits: an hour of a small server costs
/// less than a cent.
pub(crate) fn money(amount: f64) -> String {
    let places = decimals_of_money(amount);
    if !(2..=10).contains(&places) || amount.abs() >= 1e15 {
        return number(amount);
    }
    let fixed = format!("{amount:.*}", places as usize);
    // Cents are two digits, also where the second is a zero.
    let (whole, part) = fixed.split_at(fixed.len() - places as usize - 1);
    let part = part.trim_end_matches('0');
    let told = match part.len() {
        1 => whole.to_owned(),
        2 => format!("{whole}{part}0"),
        _ => format!("{whole}{part}"),
    };
    grouped(&told)
}

/// The decimals of an amount of money: those of cents, and those of six digits where these are more.
fn decimals_of_money(amount: f64) -> i32 {
    let of_six_digits = if amount == 0.0 { 0.0 } else { 5.0 - amount.abs().log10().floor() };
    of_six_digits.max(2.0) as i32
}

/// A span of time that a sentence tells, in the unit that is read at once.
pub(crate) fn duration(seconds: f64) -> String {
    const MINUTE: f64 = 60.0;
    const HOUR: f64 = 60.0 * MINUTE;
    const DAY: f64 = 24.0 * HOUR;
    // Four digits are enough to plan by.
    let rounded = |value: f64| {
        let places = (3.0 - value.abs().max(SHORTEST_SPAN).log10().floor()).clamp(0.0, 6.0);
        let power = 10f64.powf(places);
        number((value * power).round() / power)
    };
    match seconds.abs() {
        short if short < 2.0 * MINUTE => format!("{} s", rounded(seconds)),
        some if some < 2.0 * HOUR => format!("{} min", rounded(seconds / MINUTE)),
        long if long < 2.0 * DAY => format!("{} h", rounded(seconds / HOUR)),
        _ => format!("{} days", rounded(seconds / DAY)),
    }
}

/// How far something is from what it should be: two digits.
pub(crate) fn violation(value: f64) -> String {
    if value == 0.0 { "0".into() } else { format!("{value:.1e}") }
}

/// By how much something is more (or less) than something else; what sums of doubles leave over is none.
pub(crate) fn change(part: f64) -> String {
    let part = if part.abs() < SAME { 0.0 } else { part };
    format!("{}{}", if part > 0.0 { "+" } else { "" }, percent(part))
}

/// Letters of a name that is not an id.
const NAME: usize = 32;

/// A cell as people read it. Ids are as their file has them, for who lays them out to cut.
pub(crate) fn shown(column: &Column<'_>, row: usize) -> String {
    if let Some(words) = column.words(row) {
        return words.into_owned();
    }
    match (column.cell(row), column.kind) {
        (Cell::Missing, _) => String::new(),
        (Cell::Text(text), Kind::Id) => text.into_owned(),
        (Cell::Text(text), Kind::Name) => cut(&text, NAME),
        (Cell::Text(text), _) => printable(&text, usize::MAX),
        (Cell::Answer(yes), _) => if yes { "yes" } else { "no" }.into(),
        (Cell::Count(count), Kind::Position) => thousands(count + 1),
        (Cell::Count(count), _) => thousands(count),
        (Cell::Number(number), kind) => in_unit(number, kind),
    }
}

/// A number of a column of this kind.
fn in_unit(value: f64, kind: Kind) -> String {
    match kind {
        Kind::Part => percent(value),
        Kind::Share => share(value),
        Kind::Change => change(value),
        Kind::Money => money(value),
        Kind::Violation => violation(value),
        Kind::Seconds => format!("{value:.3}"),
        _ => number(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_six_digits_and_no_idle_zeros() {
        let shown = [0.0, 1.0, 5.0 / 7.0, 10.0, 123_456.78, 1234.5, 3e-9, 1e20, -0.00001234567].map(number);
        let expected =
            ["0", "1", "0.714286", "10", "123,457", "1,234.5", "3.00000e-9", "1.00000e20", "-0.0000123457"];
        assert_eq!(shown, expected);
        assert_eq!([-999.5, -1000.0, 16_678_711_296.0].map(number), ["-999.5", "-1,000", "16,678,711,296"]);
        assert_eq!(
            [0, 999, 1000, 12_583, 1_234_567].map(thousands),
            ["0", "999", "1,000", "12,583", "1,234,567"]
        );
        assert_eq!([1, 0, 2000].map(|n| counted(n, "user", "users")), ["1 user", "0 users", "2,000 users"]);
    }

    #[test]
    fn the_same_share_has_the_same_text_by_every_way_to_it() {
        for (part, text) in [(0.46875, "46.88%"), (0.468_749_999_999_998_33, "46.88%"), (0.468_749, "46.87%")]
        {
            assert_eq!(percent(part), text);
        }
        assert_eq!(percent(-0.468_749_999_999_998_33), "-46.88%");
        for part in [0.009_375, 0.009_375 * (1.0 - 0.5 * HALF)] {
            assert_eq!(share(part), "0.938%", "a share below one percent too");
        }
        assert_eq!(share(0.009_375 * (1.0 - 2.0 * HALF)), "0.937%");
    }

    #[test]
    fn a_percentage_a_hair_below_a_half_is_rounded_up_and_one_clearly_below_is_not() {
        let [inside, outside] = [0.5, 2.0].map(|hairs| percent(0.123_45 * (1.0 - hairs * HALF)));
        assert_eq!((&*inside, &*outside), ("12.35%", "12.34%"));
    }

    #[test]
    fn a_bound_that_is_rounded_stays_a_bound() {
        let both = |text: &dyn Fn(Rounded) -> String| [Rounded::Down, Rounded::Up].map(text);
        assert_eq!(both(&|side| side.percent(0.609_09)), ["60.90%", "60.91%"]);
        assert_eq!(both(&|side| side.percent(-0.609_09)), ["-60.91%", "-60.90%"]);
        assert_eq!(both(&|side| side.share(0.609_09)), ["60.90%", "60.91%"]);
        assert_eq!(both(&|side| side.share(0.002_264_97)), ["0.226%", "0.227%"]);
        assert_eq!(both(&|side| side.share(12.345_678_9)), ["1,234.56%", "1,234.57%"]);
        assert_eq!(both(&|side| side.number(1_234.567_8)), ["1,234.56", "1,234.57"]);
        assert_eq!(both(&|side| side.number(1_234_567.8)), ["1,234,560", "1,234,570"]);
        assert_eq!(both(&|side| side.number(-0.123_456_78)), ["-0.123457", "-0.123456"]);
        assert_eq!(both(&|side| money(side.of_money(1_234.567))), ["1,234.56", "1,234.57"]);
        assert_eq!(both(&|side| money(side.of_money(0.004_212_345))), ["0.00421234", "0.00421235"]);
    }

    #[test]
    fn what_is_round_but_for_rounding_is_told_alike_on_every_side() {
        for side in [Rounded::Nearest, Rounded::Up, Rounded::Down] {
            for hair in [1.0, 1.0 - 0.9 * SAME, 1.0 + 0.9 * SAME] {
                assert_eq!(side.percent(0.6 * hair), "60.00%", "{side:?}");
                assert_eq!(side.share(0.005 * hair), "0.500%", "{side:?}");
                assert_eq!(side.number(0.3 * hair), "0.3", "{side:?}");
                assert_eq!(money(side.of_money(99.5 * hair)), "99.50", "{side:?}");
            }
            let none = [side.percent(0.0), side.share(0.0), side.number(0.0), money(side.of_money(0.0))];
            assert_eq!(none, ["0.00%", "0.00%", "0", "0"]);
        }
        assert_eq!(Rounded::Up.percent(0.6 * (1.0 + 1.1 * SAME)), "60.01%");
        assert_eq!(Rounded::Down.percent(0.6 * (1.0 - 1.1 * SAME)), "59.99%");
    }

    #[test]
    fn what_rounds_to_no_percent_has_no_sign() {
        assert_eq!(
            [-1e-9, 0.0, -0.0, -0.0001, 0.5, -0.000_049].map(percent),
            ["0.00%", "0.00%", "0.00%", "-0.01%", "50.00%", "0.00%"]
        );
    }

    #[test]
    fn small_shares_keep_three_digits() {
        assert_eq!(
            [0.0, 5.0 / 7.0, 1.0, 0.095_833_3, 0.0099999, 0.002_264_97, 0.000_161, 1e-7, 3e-12, 1.25, 12.5]
                .map(share),
            [
                "0.00%",
                "71.43%",
                "100.00%",
                "9.58%",
                "1.00%",
                "0.226%",
                "0.0161%",
                "0.0000100%",
                "3.00e-10%",
                "125.00%",
                "1,250%"
            ]
        );
    }

    #[test]
    fn money_below_a_thousand_has_the_digits_that_tell_it() {
        assert_eq!(
            [0.0042, 0.192, 0.998, 12.345, -0.0042].map(money),
            ["0.0042", "0.192", "0.998", "12.345", "-0.0042"]
        );
        assert_eq!([0.1 + 0.2, 9.999_999_9, 0.000_001_5].map(money), ["0.30", "10", "1.50000e-6"]);
    }

    #[test]
    fn money_has_cents_where_there_are_any_and_spans_of_time_a_unit() {
        assert_eq!([0.0, 1_105_600.0, 12.5, 1_234.567].map(money), ["0", "1,105,600", "12.50", "1,234.57"]);
        assert_eq!(
            [0.0, 0.014, 2.34567, 119.0, 3600.0, 86_400.0, 1e6].map(duration),
            ["0 s", "0.014 s", "2.346 s", "119 s", "60 min", "24 h", "11.57 days"]
        );
    }
}
