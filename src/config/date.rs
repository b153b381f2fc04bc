//! Calendar days, as `verified:` and `review:` name them.

use std::fmt;

/// A day of the proleptic Gregorian calendar. Days compare in time's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// The day of that year, month (from 1) and day (from 1), if the calendar has it.
    pub fn new(year: u16, month: u8, day: u8) -> Option<Date> {
        let fits = year <= 9999 && (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day);
        fits.then_some(Date { year, month, day })
    }

    /// The day so many days after 1970-01-01, the last of the year 9999 at most.
    pub fn of_day(days: u64) -> Date {
        let mut rest = days;
        let mut day = Date { year: 1970, month: 1, day: 1 };
        while day.year < 9999 && rest >= days_in(day.year) {
            rest -= days_in(day.year);
            day.year += 1;
        }
        while day.month < 12 && rest >= u64::from(days_of(day.year, day.month)) {
            rest -= u64::from(days_of(day.year, day.month));
            day.month += 1;
        }
        day.day += u8::try_from(rest).unwrap_or(u8::MAX).min(days_of(day.year, day.month) - 1);
        day
    }

    /// The day that `YYYY-MM-DD` names (ISO 8601, the extended calendar form, nothing else).
    pub fn parse(text: &str) -> Option<Date> {
        let digits = |part: &str, len: usize| part.len() == len && part.bytes().all(|b| b.is_ascii_digit());
        let mut parts = text.splitn(3, '-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        if !(digits(year, 4) && digits(month, 2) && digits(day, 2)) {
            return None;
        }
        Date::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

fn days_in(year: u16) -> u64 {
    (1..=12).map(|month| u64::from(days_of(year, month))).sum()
}

fn days_of(year: u16, month: u8) -> u8 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_from_1970() {
        for (day, date) in
            [(0, "1970-01-01"), (58, "1970-02-28"), (59, "1970-03-01"), (11_016, "2000-02-29"), (20_789, "2026-12-02")]
        {
            assert_eq!(Date::of_day(day).to_string(), date);
        }
        assert_eq!(Date::of_day(u64::MAX).to_string(), "9999-12-31");
    }

    #[test]
    fn only_days_of_the_calendar_are_days() {
        for good in ["2026-08-24", "2024-02-29", "2000-02-29", "0001-01-01", "9999-12-31"] {
            assert_eq!(Date::parse(good).map(|d| d.to_string()).as_deref(), Some(good));
        }
        for bad in ["2026-02-29", "1900-02-29", "2026-04-31", "2026-13-01", "2026-00-10", "2026-1-01", "2026-01-00"] {
            assert_eq!(Date::parse(bad), None, "{bad}");
        }
        for bad in
            ["", "2026", "2026-01", "20260101", "2026-01-01T00:00:00Z", "+026-01-01", "2026-01-1 ", "２026-01-01"]
        {
            assert_eq!(Date::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn days_compare_in_order() {
        let day = |text| Date::parse(text).unwrap();
        assert!(day("2026-08-24") < day("2026-09-01"));
        assert!(day("2026-12-31") < day("2027-01-01"));
    }
}
