//! How a page looks: dark and light, on paper too, readable without scripts; one small script sorts tables. Whatever names the
//! results hold, they are text.

use super::{Block, Cell, Grid, Section};
use crate::plot::{Drawing, Ground, Room, bars, panels};
use crate::units::{counted, thousands};
use fairplan_instances::FAIRPLAN_VERSION;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::collections::HashSet;
use std::io::{self, Write};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Writes the page of these sections.
pub fn write_page(out: &mut impl Write, title: &str, sections: &[Section]) -> io::Result<()> {
    let mut warned = HashSet::new();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content={ "fairplan " (FAIRPLAN_VERSION) };
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (title) }
                    @if sections.len() > 1 {
                        nav aria-label="Contents" {
                            ol {
                                @for (position, section) in sections.iter().enumerate() {
                                    li { a href={ "#section-" (position + 1) } { (section.title) } }
                                }
                            }
                        }
                    }
                }
                main {
                    @for (position, one) in sections.iter().enumerate() {
                        (section(position + 1, one, &mut warned))
                    }
                }
                footer { "Written by fairplan " (FAIRPLAN_VERSION) "." }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    out.write_all(page.into_string().as_bytes())
}

/// One section to stand in another page, such as a notebook: its style holds for nothing but itself, and the page decides about
/// dark and light.
pub fn fragment(one: &Section) -> String {
    let style = STYLE.replace(":root", ":scope").replace("body {", ":scope {");
    let markup = html! {
        div.fairplan {
            style { (PreEscaped(format!("@scope (.fairplan) {{\n{style}}}"))) }
            (section(1, one, &mut HashSet::new()))
        }
    };
    markup.into_string()
}

/// A section; warnings that were on the page before are not repeated.
fn section<'a>(number: usize, section: &'a Section, warned: &mut HashSet<&'a str>) -> Markup {
    html! {
        section id={ "section-" (number) } {
            h2 { (section.title) }
            p.source { "From " code { (section.source) } }
            @if !section.answer.is_empty() { p.answer { (section.answer) } }
            @if !section.note.is_empty() { p.note { (section.note) } }
            @if !section.facts.is_empty() {
                dl {
                    @for (what, value) in &section.facts {
                        div { dt { (what) } dd { (value) } }
                    }
                }
            }
            @for one in &section.blocks { (block(one, warned)) }
        }
    }
}

fn block<'a>(block: &'a Block, warned: &mut HashSet<&'a str>) -> Markup {
    html! {
        @match block {
            Block::Bars(chart) => figure {
                figcaption { (chart.caption) }
                div.wide { (drawn(&bars(chart, Room::Wide))) }
                div.narrow { (drawn(&bars(chart, Room::Narrow))) }
            },
            Block::Curves(figure) => figure {
                figcaption { (figure.title) }
                div.panels { @for panel in panels(figure) { (drawn(&panel)) } }
            },
            Block::Grid(one) => (grid(one)),
            Block::Warnings(all) => (warnings(all, warned)),
        }
    }
}

fn drawn(drawing: &Drawing) -> PreEscaped<String> {
    PreEscaped(drawing.svg(Ground::Page))
}

/// Warnings before the rest is folded away.
const OPEN_WARNINGS: usize = 3;

/// What deserves a look and was not told on this page.
fn warnings<'a>(warnings: &'a [String], warned: &mut HashSet<&'a str>) -> Markup {
    let new: Vec<&str> =
        warnings.iter().map(String::as_str).filter(|warning| warned.insert(warning)).collect();
    let (open, folded) = new.split_at(OPEN_WARNINGS.min(new.len()));
    html! {
        @if !open.is_empty() {
            ul.warnings { @for warning in open { li { (warning) } } }
        }
        @if !folded.is_empty() {
            details.warnings {
                summary { (counted(folded.len() as u64, "more warning", "more warnings")) }
                ul { @for warning in folded { li { (warning) } } }
            }
        }
    }
}

fn grid(grid: &Grid) -> Markup {
    let zeros = grid.zeros.len();
    html! {
        figure.grid {
            figcaption { (grid.caption) }
            @if !grid.rows.is_empty() { (table(grid, &grid.rows)) }
            @if zeros > 0 {
                details {
                    summary {
                        @if grid.rows.is_empty() { "All " } (counted(zeros as u64, "row", "rows")) " with nothing but zeros"
                    }
                    (table(grid, &grid.zeros))
                }
            }
            @if grid.total > grid.rows.len() + zeros {
                p.more {
                    "… and " (thousands((grid.total - grid.rows.len() - zeros) as u64))
                    " more: the result itself has them all."
                }
            }
        }
    }
}

/// Letters of a cell that is never broken.
const SHORT: usize = 20;

fn table(grid: &Grid, rows: &[Vec<Cell>]) -> Markup {
    let is_short = |text: &str| text.chars().count() <= SHORT;
    let is_number =
        |column: usize| rows.iter().any(|row| row.get(column).is_some_and(|cell| cell.number.is_some()));
    html! {
        div.table tabindex="0" role="group" aria-label=(grid.caption) {
            table.sortable {
                thead {
                    tr {
                        @for (column, name) in grid.header.iter().enumerate() {
                            th scope="col" .number[is_number(column)] { (name) }
                        }
                    }
                }
                tbody {
                    @for row in rows {
                        tr {
                            @for (column, cell) in row.iter().enumerate() {
                                td .number[is_number(column)] .short[is_short(&cell.text)] data-value=[cell.number] { (cell.text) }
                            }
                        }
                    }
                }
            }
        }
        p.cut { "The table goes on to the right: swipe or scroll." }
    }
}
