//! Pages of results with hostile names: whatever the result says is text.

use super::*;
use crate::units::number;
use fairplan_instances::table::Kind;
use serde_json::{Value, json};

const HOSTILE: &str = r#"<script>alert("x")</script>"#;

fn page(results: &[Value]) -> String {
    let sections: Vec<Section> = results
        .iter()
        .map(|result| Section::read("result.json", result.to_string().as_bytes()).unwrap())
        .collect();
    let mut bytes = Vec::new();
    write_page(&mut bytes, HOSTILE, &sections).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn comparison(policies: usize) -> Value {
    let policy = |position: usize| {
        json!({"name": HOSTILE, "value": 0.25 * position as f64, "utilization": {HOSTILE: 0.5}, "tasks": 1234,
               "gap_to_divisible": 0.5})
    };
    json!({
        "format": "fairplan.comparison.v1", "fairplan_version": "0.1.0",
        "instance": {"name": HOSTILE, "sha256": "0".repeat(64),
                     "warnings": [{"kind": "mixed-units", "message": HOSTILE}]},
        "backend": "auto", "seed": 0, "bounds": {"divisible": 1.0},
        "policies": (0..policies).map(policy).collect::<Vec<_>>(),
    })
}

#[test]
fn names_from_results_are_text_wherever_they_stand() {
    let page = page(&[comparison(2)]);
    assert_eq!(page.matches("<script>").count(), 1, "only the page's own: {page}");
    assert!(page.contains("&lt;script&gt;alert(") && page.contains("1,234"));
}

#[test]
fn a_page_needs_nothing_from_the_network() {
    let page = page(&[comparison(1), comparison(2)]);
    let addresses = page.matches("http").count();
    assert_eq!(addresses, page.matches("http://www.w3.org/2000/svg").count(), "{page}");
    assert!(!page.contains("<link") && !page.contains("src=") && page.contains("#section-2"));
}

#[test]
fn long_tables_are_cut_and_say_so() {
    let page = page(&[comparison(ROWS + 7)]);
    assert_eq!(page.matches("<tr>").count(), ROWS + 1);
    assert!(page.contains("… and 7 more"));
}

#[test]
fn what_has_no_page_is_refused_by_its_format() {
    let refused = |text: &str| Section::read("f.json", text.as_bytes()).unwrap_err().to_string();
    let told = refused(r#"{"format": "fairplan.instance.v1"}"#);
    assert!(told.starts_with("f.json: format: a page cannot show fairplan.instance.v1"), "{told}");
    assert!(refused("").contains("the file is empty"));
}

#[test]
fn of_many_users_the_largest_have_bars_with_their_names() {
    let users: Vec<(String, f64)> = (0..41).map(|i| (format!("user {i}"), f64::from(i))).collect();
    let Block::Bars(bars) = sizes("Tasks", users.clone(), number) else { panic!("no bars of 41 users") };
    assert_eq!(bars.groups.len(), RANKED);
    assert_eq!(bars.groups[0], ("user 40".to_owned(), vec![40.0]));
    assert_eq!(bars.caption, "Tasks: the largest 20; 21 others have 0 to 20");
    let Block::Bars(all) = sizes("Tasks", users[..40].to_vec(), number) else {
        panic!("no bars of 40 users")
    };
    assert_eq!((all.groups.len(), &*all.caption), (40, "Tasks"));
}

#[test]
fn rows_of_nothing_but_zeros_are_folded_away() {
    let grid = |rows: Vec<(&str, f64)>| {
        let table = Table::of(&rows)
            .column("a", "a", Kind::Id, |row| row.0)
            .column("b", "b", Kind::Number, |row| row.1)
            .column("c", "c", Kind::Words, |_| "");
        Grid::new("g", &table.done())
    };
    let folded = grid([vec![("some", 1.0)], vec![("none", 0.0); 81]].concat());
    assert_eq!((folded.rows.len(), folded.zeros.len(), folded.total), (1, 81, 82));
    assert_eq!(grid(vec![("none", 0.0); ZEROS]).zeros.len(), 0);
    let section = Section { source: "f".into(), ..Section::new("t").block(Block::Grid(folded)) };
    let mut page = Vec::new();
    write_page(&mut page, "t", &[section]).unwrap();
    let page = String::from_utf8(page).unwrap();
    assert!(page.contains("<details><summary>81 rows with nothing but zeros</summary>"), "{page}");
}

#[test]
fn every_section_begins_with_its_answer_and_warnings_are_told_once() {
    let page = page(&[comparison(2), comparison(1)]);
    assert_eq!(page.matches("<p class=\"answer\">").count(), 2);
    assert!(page.contains("does best: the worst-off user has a share of 25.00%"), "{page}");
    assert_eq!(page.matches("<ul class=\"warnings\">").count(), 1);
}

#[test]
fn policies_that_use_other_resources_than_the_first_are_refused() {
    for utilization in [json!({}), json!({HOSTILE: 0.5, "more": 1}), json!({"other": 0.5})] {
        let mut result = comparison(3);
        result["policies"][2]["utilization"] = utilization;
        let told = Section::read("f.json", result.to_string().as_bytes()).unwrap_err().to_string();
        assert!(told.starts_with("f.json: policies[2].utilization: names other resources"), "{told}");
    }
}
