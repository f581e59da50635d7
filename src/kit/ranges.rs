//! Lists as users type them: of numbers, as `8`, `8-12`, `7,9`, `4,6-8`, and of what may be given once.

use std::ops::RangeInclusive;

/// The first item that is the same as an earlier one.
pub(crate) fn repeated<T>(items: &[T], is_same: impl Fn(&T, &T) -> bool) -> Option<&T> {
    let is_repeated = |at: usize| items[..at].iter().any(|earlier| is_same(earlier, &items[at]));
    (0..items.len()).find(|&at| is_repeated(at)).map(|at| &items[at])
}

/// Reads a list: numbers and ranges, separated by commas, each within `bounds`. Returns them sorted,
/// each once.
///
/// # Errors
/// A line that names the word that is not understood or out of range.
pub(crate) fn parse(text: &str, bounds: RangeInclusive<i32>) -> Result<Vec<i32>, String> {
    let mut numbers = Vec::new();
    for word in text.split(',').map(str::trim) {
        let (first, last) = match word.split_once('-') {
            Some((first, last)) => (number(first, word, &bounds)?, number(last, word, &bounds)?),
            None => {
                let single = number(word, word, &bounds)?;
                (single, single)
            }
        };
        if first > last {
            return Err(format!("'{word}' is empty; did you mean '{last}-{first}'?"));
        }
        numbers.extend(first..=last);
    }
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

fn number(text: &str, word: &str, bounds: &RangeInclusive<i32>) -> Result<i32, String> {
    let (min, max) = (bounds.start(), bounds.end());
    match text.trim().parse() {
        Ok(number) if bounds.contains(&number) => Ok(number),
        Ok(_) => Err(format!("'{word}' is out of range (expected {min} to {max})")),
        Err(_) => Err(format!("'{word}' is not a number or range (expected 8, 8-12 or 7,9)")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_ranges_and_lists() {
        for (text, expected) in [
            ("8", vec![8]),
            ("8-10", vec![8, 9, 10]),
            ("7,9", vec![7, 9]),
            (" 9, 4 - 5 ,9", vec![4, 5, 9]),
            ("3-3", vec![3]),
        ] {
            assert_eq!(parse(text, 1..=239), Ok(expected), "{text}");
        }
    }

    #[test]
    fn invalid_lists_are_refused_with_the_word() {
        for (text, named) in [
            ("", "''"),
            ("8,", "''"),
            ("x", "'x'"),
            ("8-", "'8-'"),
            ("-3", "'-3'"),
            ("1-2-3", "'1-2-3'"),
            ("7,0", "'0'"),
            ("238-240", "'238-240'"),
            ("99999999999999", "'99999999999999'"),
            ("12-8", "did you mean '8-12'"),
        ] {
            let refused = parse(text, 1..=239);
            assert!(refused.as_ref().is_err_and(|e| e.contains(named)), "{text}: {refused:?}");
        }
    }
}
