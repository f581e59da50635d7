//! "Did you mean ...?" for every unknown name: options, schemes, searchers, commands.

/// Minimum similarity of a suggestion, from 0 to 1.
const MIN_SIMILARITY: f64 = 0.8;

/// The known name most similar to `word`, if one is similar enough. Case does not count.
pub(crate) fn closest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&word, &name.to_lowercase()), name))
        .filter(|&(similarity, _)| similarity > MIN_SIMILARITY)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, name)| name)
}

/// ` (did you mean 'verified-r3'?)`, or nothing. Goes behind "unknown scheme 'verifed-r3'".
pub(crate) fn did_you_mean<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    closest(word, names).map_or_else(String::new, |name| format!(" (did you mean '{name}'?)"))
}

/// `unknown scheme 'verifed-r3' (did you mean 'verified-r3'?)`. Without a similar name it lists all.
pub(crate) fn unknown<'a>(
    kind: &str,
    word: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let hint = match closest(word, names.iter().copied()) {
        Some(name) => format!("did you mean '{name}'?"),
        None => format!("expected {}", names.join(", ")),
    };
    format!("unknown {kind} '{word}' ({hint})")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 5] = ["standard-r2", "standard-r3", "verified-r3", "Move Overhead", "Hash"];

    #[test]
    fn a_misspelt_name_gets_a_suggestion() {
        for (word, name) in [
            ("verifed-r3", "verified-r3"),
            ("VERIFIED_R3", "verified-r3"),
            ("standart-r3", "standard-r3"),
            ("MoveOverhead", "Move Overhead"),
            ("hsah", "Hash"),
        ] {
            assert_eq!(closest(word, NAMES), Some(name), "{word}");
        }
    }

    #[test]
    fn a_word_unlike_all_names_gets_no_suggestion() {
        for word in ["", "x", "Contempt", "nonsense", "♞♞♞"] {
            assert_eq!(did_you_mean(word, NAMES), "", "{word}");
        }
        assert_eq!(did_you_mean("hass", NAMES), " (did you mean 'Hash'?)");
        let all = "unknown option 'x' (expected a, b)";
        assert_eq!(unknown("option", "x", ["a", "b"]), all);
    }
}
