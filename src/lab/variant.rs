//! Changes of a null-move scheme, typed: `verified-r3+plies=2+r=4` is the row `verified-r3` with a
//! verification of two plies and R = 4. For experiments; the engine knows the rows alone.

use std::str::FromStr;

use super::runner::one_of;
use crate::score::Depth;
use crate::search::null_move::{DEEP, FailHigh, Guard, Reduction, SCHEMES, Scheme, Verify, When};

/// What can be changed of a scheme.
struct Field {
    name: &'static str,
    values: &'static str,
    set: fn(&mut Scheme, &str) -> Option<()>,
}

const FIELDS: [Field; 6] = [
    Field {
        name: "r",
        values: "1 to 8, or BASE/DIVISOR/MARGIN/MOST as modern has 3/3/80/7",
        set: set_reduction,
    },
    Field { name: "guard", values: "none or piece", set: set_guard },
    Field { name: "in-a-row", values: "1 to 255", set: set_in_a_row },
    Field {
        name: "plies",
        values: "1 to 8, of a scheme that reduces after a fail-high",
        set: set_plies,
    },
    Field {
        name: "when",
        values: "always, endgame, depthN, fewN (pieces, or depth 14) or marginN (centipawns), of a scheme that verifies or re-checks",
        set: set_when,
    },
    Field {
        name: "verify",
        values: "always, timesN, once-per-side, unless-other or fewN",
        set: set_verify,
    },
];

/// For clap: a scheme by its name, with changes after it. What is made lives as long as the program.
///
/// # Errors
/// If there is no such scheme, no such field, or a value that it cannot have.
pub fn scheme(text: &str) -> Result<&'static Scheme, String> {
    let mut words = text.split('+');
    let name = words.next().unwrap_or_default();
    let row = Scheme::named(name)
        .ok_or_else(|| one_of("scheme", SCHEMES.iter().map(|scheme| scheme.name)))?;
    let mut changed = *row;
    let mut name = row.name.to_owned();
    for word in words {
        let field = change(&mut changed, word)?;
        name = format!("{name}+{field}");
    }
    if name == row.name {
        return Ok(row);
    }
    changed.name = Box::leak(name.into_boxed_str());
    changed.source = "a variant";
    Ok(Box::leak(Box::new(changed)))
}

/// Makes one change, and says it as it is written in a name.
fn change(scheme: &mut Scheme, word: &str) -> Result<String, String> {
    let word = word.to_ascii_lowercase();
    let (name, value) = word.split_once('=').ok_or("a change is written NAME=VALUE")?;
    let field = FIELDS.iter().find(|field| field.name == name);
    let field = field.ok_or_else(|| one_of("change", FIELDS.iter().map(|field| field.name)))?;
    let set = (field.set)(scheme, value);
    set.ok_or_else(|| format!("{name} is {}", field.values))?;
    Ok(format!("{name}={value}"))
}

fn set_reduction(scheme: &mut Scheme, value: &str) -> Option<()> {
    let parts = value.split('/').map(|part| part.parse().ok()).collect::<Option<Vec<i32>>>()?;
    scheme.reduction = match parts[..] {
        [_] => Reduction::Fixed(plies(value)?),
        [base @ 1..=8, divisor @ 1..=64, margin @ 1..=10_000, most @ 0..=8] => {
            Reduction::Dynamic { base, divisor, margin, most }
        }
        _ => return None,
    };
    Some(())
}

fn set_guard(scheme: &mut Scheme, value: &str) -> Option<()> {
    scheme.guard = match value {
        "none" => Guard::None,
        "piece" => Guard::OwnPiece,
        _ => return None,
    };
    Some(())
}

fn set_in_a_row(scheme: &mut Scheme, value: &str) -> Option<()> {
    scheme.in_a_row = value.parse().ok().filter(|&most| most > 0)?;
    Some(())
}

fn set_plies(scheme: &mut Scheme, value: &str) -> Option<()> {
    let wanted = plies(value)?;
    let FailHigh::Reduce { plies, .. } = &mut scheme.verifying else { return None };
    *plies = wanted;
    Some(())
}

fn set_when(scheme: &mut Scheme, value: &str) -> Option<()> {
    let wanted = match value {
        "always" => When::Always,
        "endgame" => When::Endgame,
        _ => numbered(value, "depth")
            .map(When::Depth)
            .or_else(|| numbered(value, "few").map(|most| When::FewPiecesOrDepth(most, DEEP)))
            .or_else(|| numbered(value, "margin").map(|most| When::MarginOrDepth(most, DEEP)))?,
    };
    match &mut scheme.verifying {
        FailHigh::Reduce { when, .. } | FailHigh::Recheck { when, .. } => *when = wanted,
        FailHigh::Cutoff => return None,
    }
    Some(())
}

fn set_verify(scheme: &mut Scheme, value: &str) -> Option<()> {
    scheme.verify = match value {
        "always" => Verify::Always,
        "once-per-side" => Verify::OncePerSide,
        "unless-other" => Verify::UnlessOther,
        _ => match numbered(value, "few") {
            Some(most) => Verify::OnceOrFewPieces(most),
            None => Verify::Times(numbered(value, "times")?),
        },
    };
    Some(())
}

fn plies(value: &str) -> Option<Depth> {
    value.parse().ok().filter(|plies| (1..=8).contains(plies))
}

fn numbered<T: FromStr>(value: &str, name: &str) -> Option<T> {
    value.strip_prefix(name)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_alone_is_the_row() {
        assert_eq!(scheme("Verified-R3"), Ok(Scheme::named("verified-r3").unwrap()));
    }

    #[test]
    fn changes_are_made_and_named() {
        let made = scheme("verified-r3+R=4+plies=2+when=depth5+verify=few1+guard=piece").unwrap();
        assert_eq!(made.name, "verified-r3+r=4+plies=2+when=depth5+verify=few1+guard=piece");
        assert_eq!(made.reduction, Reduction::Fixed(4));
        assert_eq!(made.guard, Guard::OwnPiece);
        assert_eq!(made.verify, Verify::OnceOrFewPieces(1));
        let verifying = FailHigh::Reduce { when: When::Depth(5), plies: 2, redo: true };
        assert_eq!(made.verifying, verifying);
    }

    #[test]
    fn verification_may_depend_on_material_or_margin() {
        let when = |text| match scheme(text).unwrap().verifying {
            FailHigh::Reduce { when, .. } | FailHigh::Recheck { when, .. } => when,
            FailHigh::Cutoff => unreachable!("{text} verifies"),
        };
        assert_eq!(when("modern+when=few3"), When::FewPiecesOrDepth(3, DEEP));
        assert_eq!(when("verified-modern+when=margin80"), When::MarginOrDepth(80, DEEP));
        assert!(scheme("verified-r3+when=margin80").unwrap().needs_eval());
        assert!(!scheme("verified-r3+when=few3").unwrap().needs_eval());
    }

    #[test]
    fn rows_are_changes_of_one_another() {
        let same = |text, row: &str| {
            let row = *Scheme::named(row).unwrap();
            let made = *scheme(text).unwrap();
            assert_eq!(Scheme { name: row.name, source: row.source, ..made }, row, "{text}");
        };
        same("verified-r2+r=3", "verified-r3");
        same("verified-r3+verify=always", "verified-throughout");
        same("standard-r3+r=1", "standard-r1");
        same("endgame-verified+when=endgame", "endgame-verified");
    }

    #[test]
    fn what_cannot_be_is_refused_with_what_can() {
        let refusals = [
            ("verified", "there is no such scheme; there are off"),
            ("verified-r3+", "NAME=VALUE"),
            ("verified-r3+r", "NAME=VALUE"),
            ("verified-r3+depth=3", "there is no such change; there are r, guard"),
            ("verified-r3+r=0", "r is 1 to 8"),
            ("verified-r3+r=x", "r is 1 to 8"),
            ("standard-r3+plies=2", "plies is 1 to 8, of a scheme that reduces"),
            ("standard-r3+when=always", "of a scheme that verifies or re-checks"),
            ("verified-r3+when=depth", "when is always"),
            ("verified-r3+verify=times", "verify is always"),
            ("double+in-a-row=0", "in-a-row is 1 to 255"),
            ("double+in-a-row=256", "in-a-row is 1 to 255"),
        ];
        for (text, part) in refusals {
            let error = scheme(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
