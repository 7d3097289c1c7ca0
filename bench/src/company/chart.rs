//! Bars of ratios to the floor, as SVG.

use std::fmt::Write;

use super::engine::Maker;
use super::tables::Measured;
use crate::Result;
use crate::measure;

const WIDTH: f64 = 900.0;
/// Where the bars begin and end.
const LEFT: f64 = 300.0;
const RIGHT: f64 = 850.0;
const BAR: f64 = 11.0;
const TOP: f64 = 58.0;
/// The ratios at both ends of the axis, which is logarithmic.
const ENDS: (f64, f64) = (0.125, 32.0);
const MARKS: [f64; 9] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
/// Readable on light and on dark ground, and by those who see few colours.
const COLOURS: [&str; 8] =
    ["#0072b2", "#56b4e9", "#009e73", "#999999", "#d55e00", "#cc79a7", "#e69f00", "#b8a600"];

fn x(ratio: f64) -> f64 {
    let (low, high) = ENDS;
    let share = (ratio.clamp(low, high).ln() - low.ln()) / (high.ln() - low.ln());
    LEFT + share * (RIGHT - LEFT)
}

/// What may stand in an SVG's text.
fn text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// One group of bars for each workload: shorter is quicker than the floor.
pub(super) fn draw(workloads: &[Measured], makers: &[Maker]) -> Result<String> {
    let shown = |name: &&str| !["floor", "floor-borrowed", "dynamic"].contains(name);
    let engines: Vec<_> = makers.iter().map(|maker| maker.name).filter(shown).collect();
    let colour = |engine: &str| {
        let place = engines.iter().position(|name| *name == engine).unwrap_or(0);
        COLOURS.get(place % COLOURS.len()).copied().unwrap_or("#000")
    };
    let mut body = String::new();
    let mut y = TOP;
    for workload in workloads {
        let Some(floor) = workload.floor() else { continue };
        let bars: Vec<_> = engines
            .iter()
            .filter_map(|engine| Some((*engine, measure::ratio(workload.of(engine)?, floor))))
            .filter(|(_, ratio)| ratio.is_finite())
            .collect();
        let middle = y + BAR * measure::count_of(u64::try_from(bars.len())?) / 2.0 + 4.0;
        writeln!(
            body,
            r#"<text x="{:.0}" y="{middle:.0}" text-anchor="end">{}</text>"#,
            LEFT - 46.0,
            text(&workload.table.title)
        )?;
        for (engine, ratio) in bars {
            let (from, to) = (x(1.0).min(x(ratio)), x(1.0).max(x(ratio)));
            writeln!(
                body,
                r#"<rect x="{from:.1}" y="{y:.1}" width="{:.1}" height="{:.1}" fill="{}"><title>{}: {}, {ratio:.2} of the floor</title></rect>"#,
                (to - from).max(1.5),
                BAR - 2.0,
                colour(engine),
                text(&workload.table.title),
                text(engine),
            )?;
            let (at, anchor) = if ratio < 1.0 { (from - 4.0, "end") } else { (to + 4.0, "start") };
            writeln!(
                body,
                r#"<text x="{at:.1}" y="{:.1}" font-size="8" text-anchor="{anchor}">{ratio:.2}</text>"#,
                y + BAR - 3.0
            )?;
            y += BAR;
        }
        y += BAR;
    }
    let mut svg = String::new();
    let height = y + 10.0;
    writeln!(
        svg,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0}" width="{WIDTH}" height="{height:.0}" font-family="sans-serif" font-size="12" fill="#222"><title>Times against hand-written LMDB</title>
<rect width="100%" height="100%" fill="#fff"/>
<text x="10" y="18" font-size="14" font-weight="bold">Times against hand-written LMDB (1): to the left is quicker; logarithmic</text>"##
    )?;
    let mut at = 10.0;
    for engine in &engines {
        writeln!(svg, r#"<rect x="{at:.0}" y="28" width="10" height="10" fill="{}"/>"#, colour(engine))?;
        writeln!(svg, r#"<text x="{:.0}" y="37">{}</text>"#, at + 14.0, text(engine))?;
        at += 34.0 + 7.0 * measure::count_of(u64::try_from(engine.len())?);
    }
    for mark in MARKS {
        let x = x(mark);
        let weight = if (mark - 1.0).abs() < f64::EPSILON { 1.5 } else { 0.4 };
        writeln!(
            svg,
            r##"<line x1="{x:.1}" x2="{x:.1}" y1="{:.0}" y2="{:.0}" stroke="#555" stroke-width="{weight}"/><text x="{x:.1}" y="{:.0}" font-size="9" text-anchor="middle">{mark}</text>"##,
            TOP - 4.0,
            height - 8.0,
            TOP - 7.0
        )?;
    }
    svg.push_str(&body);
    svg.push_str("</svg>\n");
    Ok(svg)
}
