//! `docs/faults.md` names tests. What it names exists, and every fault on it has a test.

use std::{fs, path::Path};

/// The sections that the page must have, each with a table.
const SECTIONS: [&str; 9] =
    ["Ownership", "Identity", "Fingerprint", "Time", "Results", "Queues and streams", "Effects", "Misuse", "Operation"];

fn read(path: &str) -> Option<String> {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)).ok()
}

/// What is wrong with a name on the page: `file::test`, or the file of a program that must not compile.
fn fault_of(name: &str) -> Option<&'static str> {
    let (file, test) = name.split_once("::").unwrap_or((name, ""));
    let Some(source) = read(file) else { return Some("there is no such file") };
    if test.is_empty() {
        let stderr = file.strip_suffix(".rs").and_then(|stem| read(&format!("{stem}.stderr")));
        return stderr.is_none_or(|stderr| stderr.is_empty()).then_some("it is not known what the compiler says");
    }
    let Some((before, _)) = source.split_once(&format!("fn {test}(")) else { return Some("there is no such function") };
    // Its attributes follow the item before it.
    let attributes = before.rsplit("\n\n").next().unwrap_or_default();
    let of_every_kind = source.contains("every_kind! {") && source.contains(&format!("\n    {test},\n"));
    let of_every_trigger = source.contains("every_trigger! {") && word_of_the_macro(&source, test);
    let is_a_test =
        of_every_kind || of_every_trigger || attributes.contains("#[test]") || attributes.contains("#[tokio::test");
    (!is_a_test).then_some("that function is no test")
}

/// Whether `every_trigger!` makes tests of this function.
fn word_of_the_macro(source: &str, test: &str) -> bool {
    let tests = source.split_once("@tests $trigger: ").and_then(|(_, rest)| rest.split_once(')'));
    tests.is_some_and(|(tests, _)| tests.split_whitespace().any(|word| word == test))
}

#[test]
fn every_fault_on_the_page_names_tests_that_exist() {
    let page = read("docs/faults.md").unwrap();
    let sections: Vec<_> = page.split("\n## ").skip(1).map(|section| section.split_once('\n').unwrap()).collect();
    assert_eq!(sections.iter().map(|(title, _)| *title).collect::<Vec<_>>(), SECTIONS);
    let mut wrong = Vec::new();
    for (title, text) in sections {
        let rows: Vec<_> = text.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
        assert!(!rows.is_empty(), "{title} has no row");
        for row in rows {
            let (fault, tests) = row.trim_matches(['|', ' ']).rsplit_once(" | ").unwrap();
            // Every second piece stands between backquotes.
            let names: Vec<_> = tests.split('`').skip(1).step_by(2).collect();
            if names.is_empty() {
                wrong.push(format!("{fault}: no test"));
            }
            wrong.extend(names.iter().filter_map(|name| Some(format!("{fault} {name}: {}", fault_of(name)?))));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
