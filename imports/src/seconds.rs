//! Times of other files as microseconds.

use fairplan_instances::Decimal;
use fairplan_instances::trace::LATEST;

/// Seconds as microseconds, finer decimals cut off.
pub(super) fn microseconds(seconds: Decimal) -> Result<u64, &'static str> {
    let exponent = seconds.exponent().min(-6);
    let finer = 10u128.checked_pow(exponent.abs_diff(-6).into());
    let whole = seconds.scaled(exponent).zip(finer).map(|(digits, finer)| digits / finer);
    let too_late = "is too large a time in seconds";
    whole.and_then(|time| u64::try_from(time).ok()).filter(|time| *time <= LATEST).ok_or(too_late)
}

/// The seconds from the year 0 to a date and time as in `2017-10-09 07:01:55`, in the calendar used today; no time zone is
/// meant.
pub(super) fn date_and_time(text: &str) -> Option<u64> {
    let bytes = text.as_bytes();
    let fits = bytes.len() == 19
        && [(4, b'-'), (7, b'-'), (10, b' '), (13, b':'), (16, b':')]
            .iter()
            .all(|(at, mark)| bytes[*at] == *mark);
    let part = |from: usize, to: usize| -> Option<u64> {
        let digits = bytes.get(from..to).filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
        Some(digits.iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0')))
    };
    if !fits {
        return None;
    }
    let [year, month, day] = [part(0, 4)?, part(5, 7)?, part(8, 10)?];
    let [hour, minute, second] = [part(11, 13)?, part(14, 16)?, part(17, 19)?];
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let month = usize::try_from(month).ok().filter(|month| (1..=12).contains(month))?;
    if !(1..=days[month - 1]).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let leap_years = year.div_ceil(4) - year.div_ceil(100) + year.div_ceil(400);
    let day = 365 * year + leap_years + days[..month - 1].iter().sum::<u64>() + day - 1;
    Some(((day * 24 + hour) * 60 + minute) * 60 + second)
}

/// Seconds from the year 0 to 1970.
const EPOCH: u64 = 62_167_219_200;

/// The milliseconds since 1970 of a time in UTC: date, blank or `T`, time, up to three digits that count of a fraction,
/// and `Z`, `+00` or `+00:00` or nothing.
pub(super) fn milliseconds(text: &str) -> Option<u64> {
    let text = ["Z", "+00:00", "+00"].iter().find_map(|zone| text.strip_suffix(zone)).unwrap_or(text);
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) || fraction.len() > 9 {
        return None;
    }
    let seconds = date_and_time(&whole.replacen('T', " ", 1))?.checked_sub(EPOCH)?;
    let fraction: u64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    Some(seconds * 1000 + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_counted_through_leap_years_and_those_that_are_none_refused() {
        let seconds = |text| date_and_time(text).unwrap_or_else(|| panic!("{text}"));
        // As `date -u -d TEXT +%s` has them.
        let epoch = seconds("1970-01-01 00:00:00");
        for (text, unix) in [
            ("2017-10-09 07:01:55", 1_507_532_515),
            ("2000-02-29 23:59:59", 951_868_799),
            ("2000-03-01 00:00:00", 951_868_800),
            ("2100-03-01 00:00:00", 4_107_542_400),
            ("2016-12-31 23:59:60", 1_483_228_800),
        ] {
            assert_eq!(seconds(text) - epoch, unix, "{text}");
        }
        for text in [
            "",
            "2017-10-09",
            "2017-10-09T07:01:55",
            "2017-02-29 00:00:00",
            "2017-13-01 00:00:00",
            "2017-10-09 24:00:00",
        ] {
            assert_eq!(date_and_time(text), None, "{text}");
        }
    }

    #[test]
    fn seconds_finer_than_microseconds_are_cut_and_endless_times_refused() {
        let read = |text: &str| microseconds(text.parse().unwrap());
        assert_eq!(read("1.5"), Ok(1_500_000));
        assert_eq!(read("0.0000019"), Ok(1));
        assert_eq!(read("1e-30"), Ok(0));
        assert_eq!(read("1e20"), Err("is too large a time in seconds"));
    }
}
