//! The log of a run: learning rate and losses, as CSV and as a figure.

use plotters::prelude::*;

use super::loss::Losses;
use crate::kit::svg::described;

/// A row of the log.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct LogRow {
    /// Positions seen.
    pub positions: u64,
    /// Learning rate.
    pub lr: f64,
    /// Share of the result in the target.
    pub wdl: f64,
    /// Mean training loss since the row before.
    pub training: f64,
    /// Mean held-out losses, where the network was validated.
    pub held_out: Option<Losses>,
}

impl LogRow {
    /// Numbers of a row in a checkpoint.
    pub(super) const WORDS: usize = 7;

    /// The row for a checkpoint; held-out losses that are missing are NaN.
    pub(super) fn to_words(self) -> [u64; LogRow::WORDS] {
        let missing =
            Losses { trained: f64::NAN, cross_entropy: f64::NAN, squared_error: f64::NAN };
        let held_out = self.held_out.unwrap_or(missing);
        let numbers = [
            self.lr,
            self.wdl,
            self.training,
            held_out.trained,
            held_out.cross_entropy,
            held_out.squared_error,
        ];
        let [lr, wdl, training, trained, ce, mse] = numbers.map(f64::to_bits);
        [self.positions, lr, wdl, training, trained, ce, mse]
    }

    /// The row of a checkpoint.
    pub(super) fn of_words(words: [u64; LogRow::WORDS]) -> LogRow {
        let [positions, lr, wdl, training, trained, ce, mse] = words;
        let number = f64::from_bits;
        let held_out = Losses {
            trained: number(trained),
            cross_entropy: number(ce),
            squared_error: number(mse),
        };
        LogRow {
            positions,
            lr: number(lr),
            wdl: number(wdl),
            training: number(training),
            held_out: (!held_out.trained.is_nan()).then_some(held_out),
        }
    }
}

/// The log as CSV.
pub(super) fn csv(rows: &[LogRow]) -> String {
    let mut text = String::from(
        "positions,lr,wdl,training_loss,held_out_loss,held_out_cross_entropy,\
         held_out_squared_error\n",
    );
    for row in rows {
        let LogRow { positions, lr, wdl, training, held_out } = row;
        text.push_str(&format!("{positions},{lr:.3e},{wdl:.4},{training:.7}"));
        let held_out = held_out.map_or(",,,".to_owned(), |losses| {
            let Losses { trained, cross_entropy, squared_error } = losses;
            format!(",{trained:.7},{cross_entropy:.7},{squared_error:.7}")
        });
        text.push_str(&held_out);
        text.push('\n');
    }
    text
}

const SIZE: (u32, u32) = (860, 500);
const FONT: &str = "sans-serif";
const TRAINING: RGBColor = RGBColor(120, 150, 200);
const HELD_OUT: RGBColor = RGBColor(200, 60, 30);

/// The losses over the positions seen, as SVG; `None` without two rows.
pub(super) fn svg(title: &str, rows: &[LogRow]) -> Option<String> {
    let mut text = String::new();
    let drawn = draw(&mut text, title, rows);
    let description = "Loss in training and on held-out games over the positions seen";
    drawn.is_ok().then(|| described(&text, title, description))
}

fn draw(text: &mut String, title: &str, rows: &[LogRow]) -> Result<(), Box<dyn std::error::Error>> {
    let millions = |row: &LogRow| row.positions as f64 / 1e6;
    let training: Vec<(f64, f64)> = rows.iter().map(|row| (millions(row), row.training)).collect();
    let held_out: Vec<(f64, f64)> = rows
        .iter()
        .filter_map(|row| row.held_out.map(|losses| (millions(row), losses.trained)))
        .collect();
    let last = training.last().filter(|_| rows.len() > 1).ok_or("a line needs two points")?.0;
    // The first rows are those of a random network: they would flatten all others.
    let settled = training[(training.len() / 20).max(1)..].iter().chain(&held_out);
    let values = settled.map(|&(_, loss)| loss).filter(|loss| loss.is_finite());
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if low > high {
        return Err("no finite loss".into());
    }
    let margin = ((high - low) * 0.08).max(low.abs() * 1e-3);
    let (low, high) = (low - margin, high + margin);
    let area = SVGBackend::with_string(text, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(title, (FONT, 18))
        .margin(16)
        .x_label_area_size(46)
        .y_label_area_size(86)
        .build_cartesian_2d(0.0..last, low..high)?;
    chart
        .configure_mesh()
        .x_desc("positions seen, millions")
        .y_desc("loss")
        .axis_desc_style((FONT, 16))
        .label_style((FONT, 14))
        .y_label_formatter(&|loss| format!("{loss:.5}"))
        .bold_line_style(BLACK.mix(0.15))
        .light_line_style(TRANSPARENT)
        .draw()?;
    let inside = |points: &[(f64, f64)]| -> Vec<(f64, f64)> {
        points.iter().copied().filter(|&(_, loss)| loss <= high).collect()
    };
    chart
        .draw_series(LineSeries::new(inside(&training), TRAINING.stroke_width(2)))?
        .label("training")
        .legend(|(x, y)| PathElement::new([(x, y), (x + 24, y)], TRAINING.stroke_width(2)));
    chart
        .draw_series(LineSeries::new(inside(&held_out), HELD_OUT.stroke_width(2)).point_size(3))?
        .label("held out")
        .legend(|(x, y)| PathElement::new([(x, y), (x + 24, y)], HELD_OUT.stroke_width(2)));
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .label_font((FONT, 15))
        .legend_area_size(32)
        .background_style(WHITE.mix(0.9))
        .border_style(BLACK.mix(0.4))
        .draw()?;
    area.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<LogRow> {
        let losses = Losses { trained: 0.03, cross_entropy: 0.6, squared_error: 0.03 };
        (1..=40)
            .map(|n| LogRow {
                positions: n * 1_000_000,
                lr: 1e-3 / n as f64,
                wdl: 0.2,
                training: 0.03 + 0.01 / n as f64,
                held_out: (n % 20 == 0).then_some(losses),
            })
            .collect()
    }

    #[test]
    fn the_csv_has_a_line_per_row_and_gaps_where_nothing_was_validated() {
        let text = csv(&rows());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 41);
        assert!(lines.iter().all(|line| line.matches(',').count() == 6), "{text}");
        assert_eq!(lines[1], "1000000,1.000e-3,0.2000,0.0400000,,,");
        assert!(lines[20].ends_with(",0.0300000,0.6000000,0.0300000"));
    }

    #[test]
    fn rows_survive_a_checkpoint() {
        for row in rows() {
            assert_eq!(LogRow::of_words(row.to_words()), row);
        }
    }

    #[test]
    fn a_figure_needs_two_finite_rows() {
        let rows = rows();
        let text = svg("title", &rows).unwrap();
        assert!(
            text.contains("<svg") && text.contains("held out") && text.contains("<title>title")
        );
        assert!(svg("title", &rows[..1]).is_none() && svg("title", &[]).is_none());
        let broken = LogRow { training: f64::NAN, held_out: None, ..rows[0] };
        assert!(svg("title", &[broken, broken]).is_none());
    }
}
