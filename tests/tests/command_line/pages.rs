//! `report`, `completions` and `manual` from the command line, and the page in a real browser.

use super::*;

/// A folder with a solution and a comparison in it.
fn results() -> Folder {
    let folder = Folder::new();
    folder.done(&["generate", "drfh-fig4", "-o", "cluster.json"]);
    folder.done(&["solve", "cluster.json", "-o", "solution.json"]);
    folder.done(&["compare", "cluster.json", "--no-timing", "-o", "comparison.json"]);
    folder
}

#[test]
fn one_page_shows_all_results_and_the_same_bytes_each_time() {
    let folder = results();
    let page = ["report", "solution.json", "comparison.json", "--title", "A & B", "-o", "page.html"];
    folder.done(&page);
    let first = folder.read("page.html");
    assert!(first.contains("A &amp; B") && first.contains("Placement policies compared"), "{first}");
    assert!(first.contains("proved optimal") && first.matches("<svg").count() == 3);
    folder.done(&page);
    assert_eq!(first, folder.read("page.html"));
}

#[test]
fn a_chart_is_written_by_itself_and_what_has_none_says_so() {
    let folder = results();
    folder.done(&["report", "comparison.json", "--plot", "chart.svg", "-o", "page.html"]);
    let chart = folder.read("chart.svg");
    assert!(chart.starts_with("<svg") && chart.contains("best-fit"), "{chart}");
    // Its answer may be no.
    folder.run(&["audit", "cluster.json", "--objective", "drfh", "-o", "audit.json"]);
    let refusal = folder.refused(&["report", "audit.json", "--plot", "none.svg", "-o", "other.html"]);
    assert!(refusal.contains("audit.json: there is nothing in this result to draw"), "{refusal}");
    assert!(!folder.path("none.svg").exists() && !folder.path("other.html").exists());
}

/// The chart that `make figures` draws of a generated instance.
fn chart_of(folder: &Folder, generated: &str, limit: &[&str]) -> String {
    folder.done(&["generate", generated, "-o", "cluster.json"]);
    let compare = ["compare", "cluster.json", "--no-timing", "-o", "comparison.json"];
    folder.done(&[&compare[..], limit].concat());
    folder.done(&["report", "comparison.json", "--plot", "chart.svg", "-o", "page.html"]);
    folder.read("chart.svg")
}

fn tracked_chart(name: &str) -> String {
    std::fs::read_to_string(root().join("docs").join(name)).unwrap()
}

#[test]
fn the_chart_of_a_hundred_servers_is_what_the_command_draws() {
    let chart = chart_of(&Folder::new(), "drfh-fig4", &[]);
    assert_eq!(chart, tracked_chart("hundred-servers.svg"), "`make figures` draws it again");
}

#[test]
#[ignore = "takes a minute or more"]
fn the_chart_of_googles_servers_is_what_the_command_draws() {
    let chart = chart_of(&Folder::new(), "google", &["--time-limit", "1000"]);
    assert_eq!(chart, tracked_chart("google-servers.svg"), "`make figures` draws it again");
}

#[test]
fn what_is_no_result_is_refused_and_nothing_is_written() {
    let folder = results();
    let refusal = folder.refused(&["report", "solution.json", "cluster.json", "-o", "page.html"]);
    assert!(refusal.contains("cluster.json: format: a page cannot show fairplan.instance.v1"), "{refusal}");
    assert!(!folder.path("page.html").exists());
}

#[test]
fn tables_can_be_sorted_in_a_browser() {
    let folder = results();
    folder.done(&["report", "comparison.json", "-o", "page.html"]);
    let profile = format!("--user-data-dir={}", folder.path("profile").display());
    let page = format!("file://{}", folder.path("page.html").display());
    let quiet =
        ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"];
    let browser = Command::new("chromium").args(quiet).args([&profile, "--dump-dom", &page]).output();
    let Ok(browser) = browser else {
        return println!("skipped: there is no chromium here");
    };
    let shown = text(&browser.stdout);
    // The script gives every header of a table a button.
    assert_eq!(shown.matches("<th ").count(), shown.matches("<button type=\"button\">").count(), "{shown}");
    assert!(shown.contains("<th "), "{shown}");
}

#[test]
fn every_command_has_a_page_of_the_manual_and_is_completed() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("man")).unwrap();
    folder.done(&["manual", "man"]);
    let solve = folder.read("man/fairplan-solve.1");
    assert!(solve.contains("fairplan\\-solve") || solve.contains("fairplan-solve"), "{solve}");
    let script = folder.done(&["completions", "bash"]);
    for page in std::fs::read_dir(folder.path("man")).unwrap() {
        let name = page.unwrap().file_name().into_string().unwrap();
        let command = name.trim_end_matches(".1").trim_start_matches("fairplan").trim_start_matches('-');
        assert!(script.contains(command), "{command} is not completed");
    }
}
