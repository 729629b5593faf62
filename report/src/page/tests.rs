//! Pages of results with hostile names: whatever the result says is text.

use super::*;
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
fn policies_that_use_other_resources_than_the_first_are_refused_and_no_table_is_ragged() {
    for utilization in [json!({}), json!({HOSTILE: 0.5, "more": 1}), json!({"other": 0.5})] {
        let mut result = comparison(3);
        result["policies"][2]["utilization"] = utilization;
        let told = Section::read("f.json", result.to_string().as_bytes()).unwrap_err().to_string();
        assert!(told.starts_with("f.json: policies[2].utilization: names other resources"), "{told}");
    }
    let rows = [vec![Cell::count(1)], vec![Cell::count(1), Cell::count(2), Cell::count(3)]];
    let grid = Grid::new("g", words(["a", "b"]), rows.into_iter());
    assert!(grid.rows.iter().all(|row| row.len() == 2));
}

#[test]
fn many_users_are_ranked_on_a_curve() {
    let users: Vec<(String, f64)> = (0..1000).map(|i| (i.to_string(), f64::from(i))).collect();
    let Block::Curves(figure) = sizes("c", "v", users, number) else { panic!("bars of 1000 users") };
    let points = &figure.panels[0].curves[0].points;
    assert!(points.len() <= 400 && points[0] == [1.0, 999.0], "{points:?}");
    assert!(points.windows(2).all(|pair| pair[0][1] > pair[1][1]));
}
