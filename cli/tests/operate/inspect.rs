use std::{net::TcpListener, time::Duration};

use idempotency_core::Namespace;
use idempotency_core::{Event, IdempotencyKey, Operation, Outcome, RecordKey, Scope, StepError};

use crate::world::{TABLE, World, about, run_plain};

#[tokio::test]
async fn a_lost_attempt_is_found_by_what_its_caller_said_and_explained_in_words() {
    let world = World::start().await;
    let record = world.lost("order-1").await;
    let told = world.run(&about("inspect", "order-1", &[])).await;
    assert_eq!(told.exit, 0, "{}", told.error);
    for said in [
        record.as_str(),
        "uncertain: An attempt was lost",
        "over since",
        "under rerun",
        "takes over",
        "under reject",
        "outcome-unknown",
    ] {
        assert!(told.out.contains(said), "{said} is not in {}", told.out);
    }
    let json = world.run(&about("inspect", "order-1", &["--json"])).await.json();
    assert_eq!(
        (json["state"].as_str(), json["status"].as_str(), json["attempt"].as_u64()),
        (Some("uncertain"), Some("in_flight"), Some(1))
    );
    assert_eq!((json["lease_runs"].as_bool(), json["operation"].as_str()), (Some(false), Some("charge#v1")));
    assert!(json["a_duplicate_gets"]["probe"].as_str().unwrap().contains("probe"));
    // The same by the partition key that a log has.
    let by_record = world.run(&["inspect", "--record", record.as_str(), "--json"]).await;
    assert_eq!((by_record.exit, by_record.json()["record"].as_str()), (0, Some(record.as_str())));
}

#[tokio::test]
async fn a_record_that_is_not_there_is_told_and_exits_with_1() {
    let world = World::start().await;
    let told = world.run(&about("inspect", "nobody", &[])).await;
    assert_eq!(told.exit, 1);
    assert!(
        told.out.contains("There is no record test#charge#v1#")
            && told.out.contains("never claimed")
            && told.out.contains("--route"),
        "{}",
        told.out
    );
    assert_eq!(world.run(&about("inspect", "nobody", &["--json"])).await.json()["state"], "absent");
}

#[tokio::test]
async fn an_http_operation_is_found_by_its_route_and_a_derived_key_by_its_parts() {
    let world = World::start().await;
    let namespace = Namespace::new("test").unwrap();
    let operation = Operation::new("charge", 1).unwrap();
    let key = IdempotencyKey::derived(&operation).part("id", "INV-1").part("amount", &12).finish().unwrap();
    let expected = RecordKey::new(&namespace, &operation.on_route("POST /charges"), &Scope::none(), &key);
    let arguments = [
        "inspect",
        "--operation",
        "charge",
        "--route",
        "POST /charges",
        "--no-scope",
        "--part",
        "id=INV-1",
        "--part",
        "amount:int=12",
        "--json",
    ];
    assert_eq!(world.run(&arguments).await.json()["record"], expected.as_str());
}

#[tokio::test]
async fn a_stored_result_is_shown_only_when_asked_for() {
    let world = World::start().await;
    let claim = world.claim("order-1", Duration::ZERO).await;
    let stored = lambda_idempotency::function::stored_value(&serde_json::json!({ "card": "4242" }));
    let _ = world.engine.complete(claim, stored).await;
    for format in [&[][..], &["--json"]] {
        let told = world.run(&about("inspect", "order-1", format)).await;
        assert!(told.exit == 0 && told.out.contains("completed") && !told.out.contains("4242"), "{}", told.out);
        let shown = world.run(&about("inspect", "order-1", &[format, &["--show-result"]].concat())).await;
        assert!(shown.out.contains("4242"), "{}", shown.out);
    }
    // A result in no form that is known is shown as bytes.
    let claim = world.claim("order-2", Duration::ZERO).await;
    let _ = world.engine.complete(claim, Outcome::new("charged")).await;
    let shown = world.run(&about("inspect", "order-2", &["--show-result", "--json"])).await.json();
    assert_eq!(shown["result_shown"]["bytes_base64"], "Y2hhcmdlZA==");
}

#[tokio::test]
async fn steps_memos_and_events_beside_the_record_are_told() {
    let world = World::start().await;
    let claim = world.claim("order-1", Duration::ZERO).await;
    let attempt = claim.attempt();
    attempt.step("reserve", async |_| Ok::<_, StepError>(1)).await.unwrap();
    attempt.memo("summary", &"text", async || Ok::<_, StepError>("words".to_owned())).await.unwrap();
    let failed = attempt.step_with_undo("charge", async |_| Err::<u8, _>(StepError::NoUndo { name: "x".into() })).await;
    assert!(failed.is_err());
    attempt.publish(Event::queue("receipts", &1).unwrap()).unwrap();
    let json = world.run(&about("inspect", "order-1", &["--json"])).await.json();
    let steps = &json["beside"]["steps"];
    assert_eq!((steps[0]["name"].as_str(), steps[0]["state"].as_str()), (Some("reserve"), Some("done")));
    assert_eq!((steps[1]["name"].as_str(), steps[1]["has_undo"].as_bool()), (Some("charge"), Some(true)));
    assert!(steps[1]["state"].as_str().unwrap().starts_with("begun"));
    assert_eq!(json["beside"]["memos"], serde_json::json!(["summary"]));
    let _ = world.engine.complete(claim, Outcome::new("done")).await;
    let json = world.run(&about("inspect", "order-1", &["--json"])).await.json();
    assert_eq!(
        (json["beside"]["events"][0]["to"].as_str(), &json["beside"]["events"][0]["sent"]),
        (Some("queue receipts"), &serde_json::Value::Null)
    );
    let told = world.run(&about("inspect", "order-1", &[])).await;
    assert!(told.out.contains("step 0 reserve: done") && told.out.contains("not known to be sent"), "{}", told.out);
}

#[tokio::test]
async fn a_record_that_cannot_be_read_is_never_told_as_absent() {
    let world = World::start().await;
    let record = world.lost("order-1").await;
    let text = |text: &str| aws_sdk_dynamodb::types::AttributeValue::S(text.into());
    let update = world
        .dynamodb
        .client()
        .update_item()
        .table_name("idempotency")
        .key("pk", text(record.as_str()))
        .key("sk", text("claim"));
    update.update_expression("SET epoch = :odd").expression_attribute_values(":odd", text("x")).send().await.unwrap();
    world.run(&about("inspect", "order-1", &[])).await.assert_refused(1, "it cannot be read");
}

#[tokio::test]
async fn what_is_missing_or_no_key_is_a_mistake_of_usage() {
    let world = World::start().await;
    let rows: [(&[&str], &str); 8] = [
        (&["inspect"], "--operation"),
        (&["inspect", "--operation", "charge", "--key", "k"], "--scope"),
        (&["inspect", "--operation", "charge", "--no-scope"], "--key"),
        (&["inspect", "--operation", "ch#rge", "--no-scope", "--key", "k"], "operation name"),
        (&["inspect", "--operation", "charge", "--no-scope", "--key", "k k"], "visible ASCII"),
        (&["inspect", "--operation", "charge", "--no-scope", "--part", "id"], "expected NAME=TEXT"),
        (&["inspect", "--operation", "charge", "--no-scope", "--key", "k", "--route", "charges"], "method and path"),
        (&["inspect", "--record", "test#charge"], "four parts"),
    ];
    for (arguments, said) in rows {
        world.run(arguments).await.assert_refused(2, said);
    }
    let json = world.run(&["inspect", "--record", "x", "--json"]).await;
    let error: serde_json::Value = serde_json::from_str(&json.error).unwrap();
    assert_eq!((json.exit, error["exit"].as_u64()), (2, Some(2)));
}

#[tokio::test]
async fn a_table_that_is_not_named_not_there_or_not_reached_is_told_with_what_to_do() {
    let world = World::start().await;
    let which = ["inspect", "--record", "test#charge#v1#x"];
    run_plain(&which).assert_refused(2, "say --table, or set IDEMPOTENCY_TABLE");
    run_plain(&[&which[..], &["--table", "t"]].concat()).assert_refused(2, "say --region, set AWS_REGION");
    let url = world.dynamodb.endpoint_url().to_owned();
    let other = tokio::task::spawn_blocking(move || {
        run_plain(&["inspect", "--record", "test#charge#v1#x", "--table", "other", "--endpoint-url", &url])
    });
    other.await.unwrap().assert_refused(3, "check the table's name");
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let told = run_plain(&[&which[..], &["--table", "t", "--endpoint-url", &format!("http://{closed}")]].concat());
    told.assert_refused(3, "the record cannot be read");
}

#[tokio::test]
async fn a_result_that_has_lost_a_part_is_told_to_be_unreadable() {
    let world = World::start().await;
    let body: Vec<u8> = (0..30_000_u32).flat_map(|number| number.wrapping_mul(2_654_435_761).to_be_bytes()).collect();
    let client = world.dynamodb.client();
    for (key, gets) in [("completed", "result-unreadable"), ("failed", "failure-unreadable")] {
        let claim = world.claim(key, Duration::ZERO).await;
        let outcome = Outcome::new(body.clone());
        let _ = if key == "failed" {
            world.engine.fail(claim, outcome).await
        } else {
            world.engine.complete(claim, outcome).await
        };
        let json = world.run(&about("inspect", key, &["--json"])).await.json();
        assert_eq!(json["missing_parts"], 0);
        let items = client.scan().table_name(TABLE).send().await.unwrap().items.unwrap();
        let part = items.iter().find(|item| item["sk"].as_s().unwrap().starts_with("result#")).unwrap();
        let delete = client.delete_item().table_name(TABLE).key("pk", part["pk"].clone());
        delete.key("sk", part["sk"].clone()).send().await.unwrap();
        let json = world.run(&about("inspect", key, &["--json"])).await.json();
        assert_eq!(json["missing_parts"], 1);
        assert!(json["a_duplicate_gets"]["rerun"].as_str().unwrap().contains(gets), "{json}");
        let told = world.run(&about("inspect", key, &[])).await;
        assert!(told.out.contains("MISSING: 1 parts") && told.out.contains(gets), "{}", told.out);
        let shown = world.run(&about("inspect", key, &["--show-result"])).await;
        shown.assert_refused(3, "the stored result cannot be read");
        for item in client.scan().table_name(TABLE).send().await.unwrap().items.unwrap() {
            let delete = client.delete_item().table_name(TABLE).key("pk", item["pk"].clone());
            delete.key("sk", item["sk"].clone()).send().await.unwrap();
        }
    }
}
