//! Events in parts.

use serde_json::Value;

/// A JSON object with the fields of another.
pub(super) fn with(mut object: Value, fields: Value) -> Value {
    if let (Value::Object(object), Value::Object(fields)) = (&mut object, fields) {
        object.extend(fields);
    }
    object
}
