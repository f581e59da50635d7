//! Command lines as text.

/// A word as a POSIX shell reads it: in quotes if it holds more than letters, digits and plain signs.
pub(crate) fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-+=.,:/@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        for (text, expected) in [
            ("verified-r3+r=4", "verified-r3+r=4"),
            ("../suites/wcs.epd", "../suites/wcs.epd"),
            ("my suite.epd", "'my suite.epd'"),
            ("it's", r"'it'\''s'"),
            ("a;b", "'a;b'"),
            ("~/x", "'~/x'"),
            ("", "''"),
        ] {
            assert_eq!(word(text), expected);
        }
    }
}
