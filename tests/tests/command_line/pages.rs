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
    assert!(first.contains("proved optimal") && first.matches("class=\"wide\"").count() == 4);
    folder.done(&page);
    assert_eq!(first, folder.read("page.html"));
}

#[test]
fn a_chart_is_written_by_itself_and_what_has_none_says_so() {
    let folder = results();
    folder.done(&["report", "comparison.json", "--plot", "chart.svg", "-o", "page.html"]);
    let chart = folder.read("chart.svg");
    assert!(chart.starts_with("<svg") && chart.contains("best-fit"), "{chart}");
    folder.done(&["report", "solution.json", "--plot", "use.svg", "--chart", "2", "-o", "page.html"]);
    assert!(folder.read("use.svg").contains("Utilization by server class"));
    let words = ["report", "comparison.json", "--plot", "none.svg", "--chart", "2", "-o", "other.html"];
    let refusal = folder.refused(&words);
    assert!(refusal.contains("has no chart 2; there are: 1 Smallest share that each policy"), "{refusal}");
    assert!(!folder.path("none.svg").exists() && !folder.path("other.html").exists());
}

/// A user whose one task runs has the smallest share under every policy: bars of that would all be alike.
#[test]
fn the_chart_of_a_comparison_shows_what_its_answer_tells_policies_apart_by() {
    let folder = Folder::new();
    folder.write(
        "i.json",
        r#"{"format": "fairplan.instance.v1", "resources": ["cpu", "memory"],
            "server_classes": [{"id": "a", "count": 2, "capacity": {"cpu": 4, "memory": 4}},
                {"id": "b", "count": 1, "capacity": {"cpu": 2, "memory": 8}}],
            "users": [{"id": "small", "demand": {"cpu": 1, "memory": 1}, "tasks": 1},
                {"id": "x", "demand": {"cpu": 2, "memory": 1}}, {"id": "y", "demand": {"cpu": 1, "memory": 2}}]}"#,
    );
    folder.done(&["compare", "i.json", "-o", "c.json"]);
    folder.done(&["report", "c.json", "--plot", "c.svg", "-o", "c.html"]);
    let chart = folder.read("c.svg");
    assert!(chart.contains("Level of those who still want more under each policy"), "{chart}");
    let comparison: serde_json::Value = serde_json::from_str(&folder.read("c.json")).unwrap();
    for policy in comparison["policies"].as_array().unwrap() {
        let level = policy["level"].as_f64().unwrap();
        assert!(chart.contains(&format!("{:.2}%", level * 100.0)), "{level}: {chart}");
    }
    // Where some policy leaves nobody waiting there is no such share, and what waits is shown.
    let few = folder.read("i.json").replace(
        r#""memory": 1}}, {"id": "y", "demand": {"cpu": 1, "memory": 2}}"#,
        r#""memory": 1}, "tasks": 2}, {"id": "y", "demand": {"cpu": 1, "memory": 2}, "tasks": 2}"#,
    );
    folder.write("few.json", few);
    folder.done(&["compare", "few.json", "-o", "f.json"]);
    folder.done(&["report", "f.json", "--plot", "f.svg", "-o", "f.html"]);
    let chart = folder.read("f.svg");
    assert!(chart.contains("Tasks that wait under each policy"), "{chart}");
}

/// The comparison that `make figures` makes of a generated instance.
fn comparison_of(folder: &Folder, generated: &str) -> String {
    folder.done(&["generate", generated, "-o", "cluster.json"]);
    folder.done(&["compare", "cluster.json", "--no-timing", "-o", "comparison.json"]);
    folder.read("comparison.json")
}

/// The chart that it draws of one.
fn chart_of(folder: &Folder, comparison: &str) -> String {
    folder.write("comparison.json", comparison);
    folder.done(&["report", "comparison.json", "--plot", "chart.svg", "-o", "page.html"]);
    folder.read("chart.svg")
}

/// The comparison on Google's servers behind the README's picture, which takes minutes.
fn google_comparison() -> String {
    std::fs::read_to_string(root().join("tests/samples/google_comparison.json")).unwrap()
}

fn tracked_chart(name: &str) -> String {
    std::fs::read_to_string(root().join("docs").join(name)).unwrap()
}

#[test]
fn the_chart_of_a_hundred_servers_is_what_the_command_draws() {
    let folder = Folder::new();
    let chart = chart_of(&folder, &comparison_of(&folder, "drfh-fig4"));
    assert_eq!(chart, tracked_chart("hundred-servers.svg"), "`make figures` draws it again");
}

#[test]
fn the_chart_of_googles_servers_is_what_the_command_draws() {
    let chart = chart_of(&Folder::new(), &google_comparison());
    assert_eq!(chart, tracked_chart("google-servers.svg"), "`make figures` draws it again");
}

/// But for what the bound of whole tasks says, which `whole_tasks` finds.
#[test]
#[ignore = "takes ten seconds"]
fn the_comparison_of_googles_servers_is_what_the_command_finds() {
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let (kept, mut found) = (read(&google_comparison()), read(&comparison_of(&Folder::new(), "google")));
    assert_eq!(kept["bounds"]["divisible"], found["bounds"]["divisible"]);
    for (kept, found) in
        kept["policies"].as_array().unwrap().iter().zip(found["policies"].as_array_mut().unwrap())
    {
        for of_whole_tasks in ["gap_to_integral", "proved_optimal"] {
            found[of_whole_tasks] = kept[of_whole_tasks].clone();
        }
        assert_eq!(kept, found, "`make figures` keeps it again");
    }
}

#[test]
fn a_chart_as_png_is_the_same_picture_on_every_run() {
    let folder = results();
    folder.done(&["report", "solution.json", "--plot", "chart.PNG", "-o", "page.html"]);
    let first = std::fs::read(folder.path("chart.PNG")).unwrap();
    assert!(first.starts_with(b"\x89PNG\r\n\x1a\n") && first.len() > 2000, "{} bytes", first.len());
    folder.done(&["report", "solution.json", "--plot", "again.png", "-o", "page.html"]);
    assert_eq!(first, std::fs::read(folder.path("again.png")).unwrap());
}

#[test]
fn the_lines_of_several_audits_are_one_section() {
    let folder = Folder::new();
    folder.done(&["generate", "drfh-fig1", "-o", "i.json"]);
    // Some objectives fail a property here.
    folder.run(&["audit", "i.json", "--all", "-o", "audits.jsonl"]);
    let lines = folder.read("audits.jsonl");
    folder.done(&["report", "audits.jsonl", "-o", "page.html"]);
    let page = folder.read("page.html");
    assert!(page.contains("Fairness properties of 8 objectives") && lines.lines().count() == 8, "{page}");
    for told in ["Properties by objective", "Properties of bmf", "Properties of alpha=2", "FAILS"] {
        assert!(page.contains(told), "no {told} in {page}");
    }
    folder.write("one.jsonl", lines.lines().next().unwrap());
    folder.done(&["report", "one.jsonl", "-o", "page.html"]);
    assert!(folder.read("page.html").contains("Fairness properties of drfh"));
    folder.write("broken.jsonl", lines.replacen("single-server-drf\",", "single-server-drf\",,", 2));
    let refusal = folder.refused(&["report", "broken.jsonl", "-o", "other.html"]);
    assert!(refusal.contains("broken.jsonl: line 1:"), "{refusal}");
}

/// Every kind of result, with what its page must tell.
#[test]
fn every_result_has_a_page_and_a_chart() {
    let folder = results();
    folder.write("catalog.csv", "id,price\nclass-1,3\nclass-2,2\nbig,5\n");
    folder.write("demands.csv", "quantum,user,demand\n1,a,3\n1,b,2\n2,a,1\n2,b,5\n3,a,4\n3,b,4\n");
    folder.write("series.csv", "hour,all\n1,10\n2,12\n3,30\n");
    folder.done(&["generate", "drfh-fig1", "-o", "fig1.json"]);
    folder.done(&["place", "fig1.json", "--policy", "first-fit", "--servers-out", "-o", "now.json"]);
    folder.done(&["generate", "drfh-fig4", "--users", "1,2", "-o", "fewer.json"]);
    folder.write("servers.csv", "id,price\nhigh-cpu,3\nhigh-memory,2\n");
    folder.write("tasks.csv", "quantum,user-1,user-2\n1,3,4\n2,30,40\n3,0,9\n");
    folder.done(&["generate", "trace-drfh-fig4", "-o", "fig4.jsonl"]);
    let series = ["--series", "shares.jsonl", "--sample", "50", "--optimum", "500"];
    let simulate =
        [&["simulate", "fig4.jsonl", "--policy", "best-fit", "-o", "simulation.json"][..], &series];
    folder.done(&simulate.concat());
    for (line, told, chart) in [
        ("explain fig1.json --user user-1", "If its tasks needed less", true),
        ("entitlements fig1.json", "yarn-drf, more than DRFH", true),
        ("plan worth fig1.json", "solved again", true),
        ("plan move fig1.json --from now.json --level 1", "no fewer lead as far", true),
        ("plan lose fig1.json", "Who loses the most", true),
        ("plan diff cluster.json fewer.json", "From the first to the second", true),
        ("plan diff solution.json solution.json", "Users with more or less", false),
        (
            "plan growth fig1.json --series series.csv --quantum hour --share 0.6 --per-quantum",
            "First missed",
            true,
        ),
        ("plan fig1.json --catalog servers.csv --share 0.9 --frontier 3", "Servers to buy", true),
        ("plan fig1.json --catalog servers.csv --share 0.9 --budget 1", "Out of reach", false),
        ("allocate demands.csv --fair-share 2 --per-quantum", "Credits over time", true),
        ("offline demands.csv --fair-share 2 --per-quantum --against karma", "regret", true),
        ("allocate tasks.csv --instance fig1.json --mechanism karma --per-quantum", "Tasks over time", true),
        ("offline tasks.csv --instance fig1.json --per-quantum --against drfh", "regret", true),
        ("audit fig1.json --objective drfh", "Properties that fail", true),
        ("verify cluster.json solution.json", "Every property holds", true),
        ("bound fig1.json", "Proved optimal", true),
        ("place fig1.json", "Whole tasks placed", true),
    ] {
        // The answer of some is no.
        let words: Vec<&str> = line.split(' ').chain(["--quiet", "-o", "result.json"]).collect();
        let status = folder.run(&words).status.code();
        assert!(matches!(status, Some(0 | 1)), "{line}: {status:?}");
        let mut page = vec!["report", "result.json", "-o", "page.html"];
        if chart {
            page.extend(["--plot", "chart.png"]);
        }
        folder.done(&page);
        let page = folder.read("page.html");
        assert!(page.contains(told), "{line}: no {told:?} in {page}");
    }
    for (result, told) in [("simulation.json", "Jobs of a trace"), ("shares.jsonl", "Dominant shares")] {
        folder.done(&["report", result, "--plot", "chart.png", "-o", "page.html"]);
        assert!(folder.read("page.html").contains(told), "{result}");
    }
    folder.write("broken.jsonl", folder.read("shares.jsonl") + "{\"policy\": 1}\n");
    let refusal = folder.refused(&["report", "broken.jsonl", "-o", "other.html"]);
    assert!(refusal.contains("broken.jsonl: line ") && refusal.contains("policy"), "{refusal}");
}

#[test]
fn what_is_no_result_is_refused_and_nothing_is_written() {
    let folder = results();
    let refusal = folder.refused(&["report", "solution.json", "cluster.json", "-o", "page.html"]);
    assert!(refusal.contains("cluster.json: format: a page cannot show fairplan.instance.v1"), "{refusal}");
    assert!(!folder.path("page.html").exists());
}

/// What a browser prints with these options about a page; `None`, with a word, without a browser.
pub(super) fn in_a_browser(folder: &Folder, page: &str, options: &[&str]) -> Option<String> {
    let address = format!("file://{}", folder.path(page).display());
    let profile = format!("--user-data-dir={}", folder.path("profile").display());
    let quiet =
        ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"];
    match Command::new("chromium").args(quiet).args([&profile]).args(options).arg(address).output() {
        Ok(browser) => Some(text(&browser.stdout)),
        Err(_) => {
            println!("skipped: there is no chromium here");
            None
        }
    }
}

/// The page after these steps (JavaScript) were done on it.
fn after_steps(folder: &Folder, page: &str, steps: &str, setting: &str) -> Option<String> {
    folder.write(
        "stepped.html",
        folder.read(page).replace("</body>", &format!("<script>{steps}</script></body>")),
    );
    in_a_browser(folder, "stepped.html", &["--dump-dom", setting])
}

#[test]
fn a_page_is_light_or_dark_as_its_reader_likes_and_is_read_and_printed_without_scripts() {
    let folder = results();
    folder.done(&["report", "solution.json", "comparison.json", "-o", "page.html"]);
    let ground = "document.body.dataset.ground = getComputedStyle(document.body).backgroundColor;";
    for (scheme, colour) in [("1", "rgb(255, 255, 255)"), ("0", "rgb(22, 24, 27)")] {
        let setting = format!("--blink-settings=preferredColorScheme={scheme}");
        let Some(shown) = after_steps(&folder, "page.html", ground, &setting) else { return };
        assert!(shown.contains(&format!("data-ground=\"{colour}\"")), "{scheme}: {shown}");
    }
    let no_scripts = "<head><meta http-equiv=\"Content-Security-Policy\" content=\"script-src 'none'\">";
    folder.write("still.html", folder.read("page.html").replacen("<head>", no_scripts, 1));
    let Some(shown) = in_a_browser(&folder, "still.html", &["--dump-dom"]) else { return };
    assert!(shown.contains("script-src 'none'"), "{shown}");
    assert!(!shown.contains("<button") && shown.contains("best-fit") && shown.contains("<svg"), "{shown}");
    let pdf = format!("--print-to-pdf={}", folder.path("page.pdf").display());
    in_a_browser(&folder, "still.html", &[&pdf]);
    let printed = std::fs::read(folder.path("page.pdf")).unwrap();
    assert!(printed.starts_with(b"%PDF-") && printed.len() > 10_000, "{} bytes", printed.len());
}

#[test]
fn tables_are_sorted_in_a_browser_by_value_not_by_letters() {
    let folder = results();
    folder.done(&["report", "comparison.json", "-o", "page.html"]);
    // The script gives every header of a table a button; the tally is of what a reader sees then.
    let steps = "const buttons = [...document.querySelectorAll('table.sortable th button')]; \
                 const at = buttons.findIndex((button) => button.textContent === 'tasks'); const button = buttons[at]; \
                 const tell = (what) => { const rows = [...document.querySelectorAll('table.sortable tbody tr')]; \
                 const told = document.createElement('p'); told.className = what; \
                 told.textContent = button.textContent + ': ' + rows.map((row) => row.cells[at].dataset.value).join(' '); \
                 document.body.append(told); }; \
                 button.click(); tell('rising'); button.click(); tell('falling');";
    let Some(shown) = after_steps(&folder, "page.html", steps, "--no-first-run") else { return };
    assert_eq!(shown.matches("<th ").count(), shown.matches("<button type=\"button\">").count(), "{shown}");
    let told = |class: &str| -> Vec<u64> {
        let start = format!("<p class=\"{class}\">tasks: ");
        let line = shown.split(&start).nth(1).unwrap_or_else(|| panic!("no {class} rows: {shown}"));
        line.split('<').next().unwrap().split(' ').map(|number| number.parse().unwrap()).collect()
    };
    let (rising, mut falling) = (told("rising"), told("falling"));
    assert!(rising.len() > 3 && rising.is_sorted() && rising.first() < rising.last(), "{rising:?}");
    falling.reverse();
    assert_eq!(rising, falling);
}

#[test]
fn names_that_are_programs_run_nowhere_in_a_browser() {
    let folder = Folder::new();
    let hostile = r#"<img src=x onerror="document.title='run'"><script>document.title='run'</script>"#;
    let instance = serde_json::json!({
        "format": "fairplan.instance.v1", "name": hostile, "resources": [hostile],
        "server_classes": [{"id": hostile, "count": 2, "capacity": {hostile: 2}}],
        "users": [{"id": hostile, "demand": {hostile: 1}}],
    });
    folder.write("hostile.json", instance.to_string());
    folder.done(&["solve", "hostile.json", "-o", "solution.json"]);
    folder.done(&["plan", "lose", "hostile.json", "-o", "loss.json"]);
    folder.done(&["report", "solution.json", "loss.json", "--title", hostile, "-o", "page.html"]);
    let steps = "document.body.dataset.title = document.title.startsWith('\\x3cimg') ? 'a text' : 'was run';";
    let Some(shown) = after_steps(&folder, "page.html", steps, "--no-first-run") else { return };
    assert!(shown.contains("data-title=\"a text\"") && !shown.contains("<img"), "{shown}");
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

#[test]
fn what_is_all_used_and_worth_nothing_more_is_told_to_be_so() {
    let folder = Folder::new();
    // Whose share is the smallest for its weight has all its tasks, which use all GPUs.
    let limited = r#"{"id": "one", "weight": 2, "demand": {"cpu": 1, "gpu": 1}, "tasks": 2}, {"id": "other", "demand": {"cpu": 1}}"#;
    let alone = r#"{"id": "one", "weight": 2, "demand": {"cpu": 1}}"#;
    let why = "what one more unit is worth (0 of what is all used";
    for (name, users, is_told) in [("limited", limited, true), ("alone", alone, false)] {
        let instance = format!(
            r#"{{"format": "fairplan.instance.v1", "name": "{name}", "resources": ["cpu", "gpu"],
                "server_classes": [{{"id": "a", "count": 1, "capacity": {{"cpu": 100, "gpu": 2}}}}], "users": [{users}]}}"#
        );
        let [from, solved] = ["", "solved-"].map(|kind| format!("{kind}{name}.json"));
        folder.write(&from, instance);
        folder.done(&["solve", &from, "-o", &solved]);
        folder.done(&["report", &solved, "-o", "page.html"]);
        assert_eq!(folder.read("page.html").contains(why), is_told, "{name}");
    }
}

#[test]
fn results_of_two_instances_and_shares_over_weights_are_called_so() {
    let folder = Folder::new();
    for (name, weight) in [("even", 1), ("uneven", 2)] {
        let instance = format!(
            r#"{{"format": "fairplan.instance.v1", "name": "{name}", "resources": ["cpu"],
                "server_classes": [{{"id": "a", "count": 1, "capacity": {{"cpu": 6}}}}],
                "users": [{{"id": "one", "weight": {weight}, "demand": {{"cpu": 1}}}}, {{"id": "other", "demand": {{"cpu": 1}}}}]}}"#
        );
        folder.write(&format!("{name}.json"), instance);
        folder.done(&["solve", &format!("{name}.json"), "-o", &format!("solved-{name}.json")]);
    }
    let told = |words: &[&str]| text(&folder.run(words).stderr).replace('\n', " ");
    let differs = |second: &str| told(&["plan", "diff", "solved-even.json", second, "-o", "d.json"]);
    let two = differs("solved-uneven.json");
    assert!(two.contains("These are results of two instances, even and uneven"), "{two}");
    assert!(!differs("solved-even.json").contains("two instances"));
    for (name, what) in [("even", "smallest share"), ("uneven", "smallest weighted share")] {
        let bound = told(&["bound", &format!("{name}.json"), "-o", "b.json"]);
        assert!(bound.contains(&format!("Best {what} of whole tasks")), "{bound}");
    }
}
