//! Figures in SVG.

/// Adds a title and a description for screen readers.
pub(crate) fn described(svg: &str, title: &str, description: &str) -> String {
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let words =
        format!(">\n<title>{}</title>\n<desc>{}</desc>", escaped(title), escaped(description));
    svg.replacen("<svg ", "<svg role=\"img\" ", 1).replacen('>', &words, 1)
}
