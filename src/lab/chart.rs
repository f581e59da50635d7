//! The paper's Figure 4 for any suite: the size of the trees over depth, a line per scheme, as SVG.
//!
//! The axis of nodes is logarithmic, so that a steady branching factor is a straight line. Lines
//! differ in dashes and markers as well as in colour: the figure must be readable in print.

use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::LabError;
use crate::score::Depth;

/// The line of a scheme.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Depth in plies and nodes of the whole suite.
    pub points: Vec<(Depth, u64)>,
}

/// Draws the figure and returns the text of the SVG file.
///
/// # Errors
/// If the drawing fails, as for want of a single point.
pub fn tree_size(title: &str, series: &[Series]) -> Result<String, LabError> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        draw(&area, title, series)
            .map_err(|error| LabError::Machine(format!("cannot draw the figure: {error}")))?;
    }
    Ok(text)
}

type Failure = Box<dyn std::error::Error>;
type Svg<'a> = SVGBackend<'a>;

const SIZE: (u32, u32) = (860, 600);
const FONT: &str = "sans-serif";

fn draw(area: &DrawingArea<Svg, Shift>, title: &str, series: &[Series]) -> Result<(), Failure> {
    let (depths, nodes) = axes(series).ok_or("there is nothing to draw")?;
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(area)
        .caption(title, (FONT, 20))
        .margin(16)
        .x_label_area_size(48)
        .y_label_area_size(84)
        .build_cartesian_2d(depths, nodes)?;
    chart
        .configure_mesh()
        .x_desc("depth in plies")
        .y_desc("nodes, all positions together")
        .axis_desc_style((FONT, 16))
        .label_style((FONT, 14))
        .bold_line_style(BLACK.mix(0.18))
        .light_line_style(TRANSPARENT)
        .draw()?;
    for (line, look) in series.iter().zip(looks()) {
        let points = line.points.iter().map(|&(depth, nodes)| (f64::from(depth), nodes as f64));
        let (dash, gap) = look.dash;
        chart
            .draw_series(DashedLineSeries::new(points.clone(), dash, gap, look.stroke()))?
            .label(&line.name)
            .legend(move |(x, y)| {
                EmptyElement::at((x + 25, y)) + look.key() + look.inside() + look.outline()
            });
        chart.draw_series(
            points.map(|point| EmptyElement::at(point) + look.inside() + look.outline()),
        )?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .label_font((FONT, 15))
        .legend_area_size(54)
        .background_style(WHITE.mix(0.9))
        .border_style(BLACK.mix(0.5))
        .draw()?;
    area.present()?;
    Ok(())
}

/// An axis with marks where we want them; plotters puts them too sparsely on a logarithmic one.
struct Axis {
    ends: (f64, f64),
    marks: Vec<f64>,
    scale: fn(f64) -> f64,
    label: fn(f64) -> String,
}

/// The axes of depth and of nodes; `None` if there is no point.
fn axes(series: &[Series]) -> Option<(Axis, Axis)> {
    let points = || series.iter().flat_map(|line| line.points.iter().copied());
    let depths = points().map(|(depth, _)| depth);
    let nodes = points().map(|(_, nodes)| nodes);
    let (shallow, deep) = (depths.clone().min()?, depths.max()?);
    let (few, many) = (nodes.clone().min()?.max(1) as f64, nodes.max()?.max(1) as f64);
    let depths = Axis {
        ends: (f64::from(shallow) - 0.3, f64::from(deep) + 0.3),
        marks: (shallow..=deep).map(f64::from).collect(),
        scale: |depth| depth,
        label: |depth| format!("{depth:.0}"),
    };
    let ends = (few / 1.4, many * 1.4);
    Some((depths, Axis { ends, marks: decades(ends), scale: f64::log10, label: short }))
}

/// The marks of a logarithmic axis: 1, 2, 5, 10, and so on, or powers of ten alone if those are
/// many.
fn decades((low, high): (f64, f64)) -> Vec<f64> {
    let steps: &[f64] = if high / low < 3e3 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let marks = (0..20).flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)));
    marks.filter(|mark| (low..=high).contains(mark)).collect()
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        let (low, high) = ((self.scale)(self.ends.0), (self.scale)(self.ends.1));
        let share = ((self.scale)(value.max(self.ends.0)) - low) / (high - low);
        from + (f64::from(to - from) * share).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.marks.clone()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.ends.0..self.ends.1
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        (self.label)(*value)
    }
}

/// `20 M` for twenty million.
fn short(nodes: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")];
    let unit = UNITS.into_iter().find(|(size, _)| nodes >= *size);
    let (size, name) = unit.unwrap_or((1.0, ""));
    format!("{}{name}", (nodes / size * 10.0).round() / 10.0)
}

/// How a line looks.
#[derive(Clone, Copy)]
struct Look {
    color: RGBColor,
    /// Pixels drawn and left out.
    dash: (u32, u32),
    /// The corners of the marker in pixels from its middle.
    shape: &'static [(i32, i32)],
    hollow: bool,
}

/// Dark colours that the colour-blind can tell apart (Okabe & Ito 2008).
const COLORS: [RGBColor; 5] = [
    RGBColor(0, 0, 0),
    RGBColor(213, 94, 0),
    RGBColor(0, 114, 178),
    RGBColor(0, 158, 115),
    RGBColor(170, 70, 130),
];

/// Without a gap, one dash covers any line.
const DASHES: [(u32, u32); 4] = [(4000, 0), (9, 5), (2, 4), (18, 6)];

const SHAPES: [&[(i32, i32)]; 4] = [
    &[(-5, -2), (-2, -5), (2, -5), (5, -2), (5, 2), (2, 5), (-2, 5), (-5, 2)],
    &[(-5, -5), (5, -5), (5, 5), (-5, 5)],
    &[(0, -6), (6, 5), (-6, 5)],
    &[(0, -7), (7, 0), (0, 7), (-7, 0)],
];

/// One look after the other, all different for the first forty.
fn looks() -> impl Iterator<Item = Look> {
    (0..).map(|n: usize| Look {
        color: COLORS[n % COLORS.len()],
        dash: DASHES[n % DASHES.len()],
        shape: SHAPES[(n + n / SHAPES.len()) % SHAPES.len()],
        hollow: n % 2 == 1,
    })
}

impl Look {
    fn stroke(&self) -> ShapeStyle {
        self.color.stroke_width(2)
    }

    fn inside(&self) -> Polygon<(i32, i32)> {
        let fill = if self.hollow { WHITE.filled() } else { self.color.filled() };
        Polygon::new(self.shape.to_vec(), fill)
    }

    fn outline(&self) -> PathElement<(i32, i32)> {
        let mut corners = self.shape.to_vec();
        corners.extend(self.shape.first());
        PathElement::new(corners, self.stroke())
    }

    /// The stroke left and right of the marker in the legend.
    fn key(&self) -> DashedPathElement<std::array::IntoIter<(i32, i32), 2>, u32> {
        DashedPathElement::new([(-25, 0), (25, 0)], self.dash.0, self.dash.1, self.stroke())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_drawn_and_named() {
        let line = |name: &str, factor: u64| Series {
            name: name.to_owned(),
            points: (7..=9).map(|depth| (depth, factor * 3u64.pow(depth as u32))).collect(),
        };
        let svg = tree_size("a <title>", &[line("standard-r2", 9), line("verified-r3", 7)])
            .expect("draws");
        for text in ["<svg", "a &lt;title&gt;", "standard-r2", "verified-r3", "depth in plies"] {
            assert!(svg.contains(text), "{text} is missing");
        }
        assert!(svg.trim_end().ends_with("</svg>"));
    }

    #[test]
    fn nothing_is_an_error_and_one_point_is_not() {
        assert!(tree_size("title", &[]).is_err());
        let one = Series { name: "off".to_owned(), points: vec![(8, 0)] };
        assert!(tree_size("title", &[one]).is_ok());
    }

    #[test]
    fn nodes_are_marked_at_round_numbers() {
        assert_eq!(decades((150.0, 2500.0)), [200.0, 500.0, 1000.0, 2000.0]);
        assert_eq!(decades((150.0, 2e6)), [1e3, 1e4, 1e5, 1e6]);
    }

    #[test]
    fn axis_labels_are_short() {
        for (nodes, text) in [(5.0, "5"), (2e4, "20 k"), (1.5e6, "1.5 M"), (1e10, "10 G")] {
            assert_eq!(short(nodes), text);
        }
    }
}
