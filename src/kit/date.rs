//! Today's date, for reports and records.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// A day of the Gregorian calendar, UTC. Displays as `2026-11-26`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Date {
    /// The year.
    pub year: i64,
    /// The month, from 1.
    pub month: u32,
    /// The day of the month, from 1.
    pub day: u32,
}

impl Date {
    /// Today by the machine's clock.
    pub(crate) fn today() -> Date {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        Date::of_day((seconds / 86_400) as i64)
    }

    /// The date of a day counted from 1 January 1970. Source: Hinnant, "chrono-Compatible Low-Level
    /// Date Algorithms", `civil_from_days`.
    fn of_day(day: i64) -> Date {
        // Years begin with March here, so that the leap day is the last of a year.
        let day = day + 719_468;
        let era = day.div_euclid(146_097);
        let day_of_era = day.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month = (5 * day_of_year + 2) / 153;
        let day = (day_of_year - (153 * month + 2) / 5 + 1) as u32;
        let month = if month < 10 { month + 3 } else { month - 9 } as u32;
        Date { year: year_of_era + 400 * era + i64::from(month <= 2), month, day }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_their_dates() {
        for (day, date) in [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (19_722, "2023-12-31"),
            (19_723, "2024-01-01"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(Date::of_day(day).to_string(), date);
        }
        assert!(Date::today().year >= 2025);
    }
}
