use lambda_idempotency::migration::{HashError, python_hash, typescript_hash};
use serde_json::Value;

use crate::support::{PYTHON, TYPESCRIPT, row};

const PYTHON_HASHES: &str = include_str!("python-hashes.json");
const TYPESCRIPT_HASHES: &str = include_str!("typescript-hashes.json");

/// How many payloads have the hash that the package made, and which are refused.
fn compare(vectors: &str, hash: fn(&Value) -> Result<String, HashError>) -> (usize, Vec<String>) {
    let vectors: Value = serde_json::from_str(vectors).unwrap();
    let (mut equal, mut refused) = (0, Vec::new());
    for vector in vectors["vectors"].as_array().unwrap() {
        let payload = vector["payload"].as_str().unwrap();
        match hash(&serde_json::from_str(payload).unwrap()) {
            Ok(own) => {
                assert_eq!(own, vector["hash"].as_str().unwrap(), "{payload}");
                equal += 1;
            }
            Err(_) => refused.push(payload.to_owned()),
        }
    }
    (equal, refused)
}

#[test]
fn hashes_are_those_of_the_packages_or_refused() {
    assert_eq!(compare(PYTHON_HASHES, python_hash), (25, vec!["1e+21".to_owned()]));
    let members = r#"{"a": 1, "A": 2}"#.to_owned();
    assert_eq!(compare(TYPESCRIPT_HASHES, typescript_hash), (24, vec!["1e+21".to_owned(), members]));
}

#[test]
fn ids_are_a_prefix_and_the_hash_of_what_the_old_function_selected() {
    let (key, body) = (Value::from("order-42"), serde_json::json!(["cus_42", 1200]));
    for (name, payload) in [("http by header", &key), ("http by body", &body), ("prefix", &key)] {
        let id = |row: &Value| row["completed"]["id"]["S"].as_str().unwrap().rsplit_once('#').unwrap().1.to_owned();
        assert_eq!(id(&row(PYTHON, name)), python_hash(payload).unwrap(), "{name}");
        assert_eq!(id(&row(TYPESCRIPT, name)), typescript_hash(payload).unwrap(), "{name}");
    }
    let validation = |rows| row(rows, "http by body")["completed"]["validation"]["S"].as_str().unwrap().to_owned();
    assert_eq!(validation(PYTHON), python_hash(&"EUR".into()).unwrap());
    assert_eq!(validation(TYPESCRIPT), typescript_hash(&"EUR".into()).unwrap());
}
