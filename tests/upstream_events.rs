//! The example events that `aws_lambda_events` ships: each goes through the wrapper of each trigger whose type it fits, without a
//! panic and without a run that nobody can account for.

use std::{collections::BTreeMap, env, fs, path::PathBuf, process::Command};

use serde_json::Value;

use crate::event_world::EventWorld;

/// The triggers, and the names of examples that are theirs.
const TRIGGERS: [(&str, &[&str]); 9] = [
    ("sqs", &["example-sqs-event"]),
    ("kinesis", &["example-kinesis-event"]),
    ("dynamodb", &["example-dynamodb-event"]),
    ("kafka", &["example-kafka-event"]),
    ("kafka-reporting", &["example-kafka-event"]),
    ("eventbridge", &["example-eventbridge"]),
    ("sns", &["example-sns-event", "example-cloudwatch-alarm-sns"]),
    ("s3", &["example-s3-event"]),
    ("scheduler", &["example-eventbridge-schedule"]),
];

/// The examples, by name. They are part of the crate's source, which cargo has downloaded.
fn examples() -> BTreeMap<String, Value> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // Only packages of this platform have been downloaded.
    let platform = Command::new("rustc").arg("-vV").output().unwrap();
    let platform = String::from_utf8(platform.stdout).unwrap();
    let platform = platform.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let arguments = ["metadata", "--format-version", "1", "--offline", "--filter-platform", platform];
    let metadata = Command::new(cargo).args(arguments).output().unwrap();
    let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let events = packages.iter().find(|package| package["name"] == "aws_lambda_events").unwrap();
    let folder = PathBuf::from(events["manifest_path"].as_str().unwrap()).with_file_name("src").join("fixtures");
    let mut examples = BTreeMap::new();
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if let Ok(example) = serde_json::from_slice(&fs::read(&path).unwrap()) {
            examples.insert(name, example);
        }
    }
    assert!(examples.len() > 100, "{}", examples.len());
    examples
}

#[tokio::test]
async fn every_example_passes_through_every_trigger_without_a_panic() {
    let examples = examples();
    for (trigger, own) in TRIGGERS {
        let world = EventWorld::start(trigger, &[("MESSAGE", "raw")]).await;
        let mut passed = 0;
        for (name, example) in &examples {
            // An event of another type is refused by the runtime, or is empty to this one. `deliver` fails if the process ends.
            let first = world.deliver(example).await;
            if !own.iter().any(|own| name.starts_with(own)) || first.is_err() {
                continue;
            }
            passed += 1;
            // Again, it does not run.
            let runs = world.run_count().await;
            assert_eq!(world.deliver(example).await, first, "{trigger} {name}");
            assert_eq!(world.run_count().await, runs, "{trigger} {name}");
        }
        assert!(passed >= 1, "{trigger}: {}", world.log());
        assert!(!world.log().contains("panicked"), "{trigger}: {}", world.log());
        assert!(world.run_count().await >= 1, "{trigger}");
        world.stop().await;
    }
}
