//! How a page looks: dark and light, on paper too, readable without scripts; one small script sorts tables. Whatever names the
//! results hold, they are text.

use super::{Block, Grid, Section};
use crate::FAIRPLAN_VERSION;
use crate::plot::{Ground, bars, curves};
use crate::summary::thousands;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::io::{self, Write};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Writes the page of these sections.
pub fn write_page(out: &mut impl Write, title: &str, sections: &[Section]) -> io::Result<()> {
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
                    @for (position, one) in sections.iter().enumerate() { (section(position + 1, one)) }
                }
                footer { "Written by fairplan " (FAIRPLAN_VERSION) "." }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    out.write_all(page.into_string().as_bytes())
}

fn section(number: usize, section: &Section) -> Markup {
    html! {
        section id={ "section-" (number) } {
            h2 { (section.title) }
            p.source { "From " code { (section.source) } }
            @if !section.facts.is_empty() {
                dl {
                    @for (what, value) in &section.facts {
                        div { dt { (what) } dd { (value) } }
                    }
                }
            }
            @for one in &section.blocks { (block(one)) }
        }
    }
}

fn block(block: &Block) -> Markup {
    html! {
        @match block {
            Block::Bars(chart) => figure {
                figcaption { (chart.caption) }
                (PreEscaped(bars(chart).svg(Ground::Page)))
            },
            Block::Curves(figure) => figure {
                figcaption { (figure.title) }
                (PreEscaped(curves(figure).svg(Ground::Page)))
            },
            Block::Grid(one) => (grid(one)),
            Block::Warnings(warnings) => ul.warnings {
                @for warning in warnings { li { (warning) } }
            },
        }
    }
}

fn grid(grid: &Grid) -> Markup {
    let is_number = |column: usize| grid.rows.iter().any(|row| row[column].number.is_some());
    html! {
        div.table {
            table.sortable {
                caption { (grid.caption) }
                thead {
                    tr {
                        @for (column, name) in grid.header.iter().enumerate() {
                            th scope="col" .number[is_number(column)] { (name) }
                        }
                    }
                }
                tbody {
                    @for row in &grid.rows {
                        tr {
                            @for (column, cell) in row.iter().enumerate() {
                                td .number[is_number(column)] data-value=[cell.number] { (cell.text) }
                            }
                        }
                    }
                }
            }
        }
        @if grid.total > grid.rows.len() {
            p.more {
                "… and " (thousands((grid.total - grid.rows.len()) as u64))
                " more: the result itself has them all."
            }
        }
    }
}
