//! What happened to an order.

use aws_lambda_events::eventbridge::EventBridgeEvent;
use lambda_idempotency::events::{FromRecord, Payload, Undecodable};
use serde::Deserialize;
use serde_json::Value;

/// The only source of such events.
const SOURCE: &str = "com.example.orders";

/// What happened to an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OrderEvent {
    pub(crate) status: Status,
    pub(crate) order: Order,
}

/// What became of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Placed,
    Paid,
    Cancelled,
}

/// The order, as of the event. Its service may say more of it than is kept here.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Order {
    pub(crate) customer_id: Id,
    pub(crate) order_id: Id,
    /// In the currency's minor unit.
    pub(crate) amount: u64,
    pub(crate) currency: String,
    /// For people to read. Clocks do not say which of two events is newer; `sequence` does.
    pub(crate) occurred_at: String,
    /// The number of this event among those of its order. It grows.
    pub(crate) sequence: u64,
}

/// An id of the order service: text that can be a key of the table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Id(String);

impl Status {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Placed => "placed",
            Self::Paid => "paid",
            Self::Cancelled => "cancelled",
        }
    }

    fn of(detail_type: &str) -> Option<Self> {
        match detail_type {
            "OrderPlaced" => Some(Self::Placed),
            "OrderPaid" => Some(Self::Paid),
            "OrderCancelled" => Some(Self::Cancelled),
            _ => None,
        }
    }
}

impl Id {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Id {
    type Error = &'static str;

    fn try_from(id: String) -> Result<Self, Self::Error> {
        match !id.trim().is_empty() && id.len() <= 256 {
            true => Ok(Self(id)),
            false => Err("must be 1 to 256 bytes, not all blank"),
        }
    }
}

impl FromRecord<EventBridgeEvent<Value>> for OrderEvent {
    /// What happened stands beside the detail. A rule lets nothing else through; a wider rule must not make another event an order.
    fn from_record(event: &EventBridgeEvent<Value>, payload: &Payload) -> Result<Self, Undecodable> {
        if event.source != SOURCE {
            return Err(Undecodable::new(format!("source: only {SOURCE} is understood")));
        }
        let known = "detail-type: only OrderPlaced, OrderPaid and OrderCancelled are understood";
        let status = Status::of(&event.detail_type).ok_or_else(|| Undecodable::new(known))?;
        Ok(Self { status, order: Order::from_record(event, payload)? })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(source: &str, detail_type: &str, sequence: Value) -> Result<OrderEvent, String> {
        let detail = json!({
            "order_id": "o-1", "customer_id": "c-1", "amount": 1200, "currency": "EUR",
            "occurred_at": "2026-10-01T12:00:00Z", "sequence": sequence, "channel": "web",
        });
        let event = json!({
            "id": "e-1", "source": source, "detail-type": detail_type, "detail": detail,
            "time": "2026-10-01T12:00:01Z", "resources": [],
        });
        let event: EventBridgeEvent<Value> = serde_json::from_value(event).unwrap();
        OrderEvent::from_record(&event, &Payload::Json(event.detail.clone())).map_err(|error| error.to_string())
    }

    #[test]
    fn an_event_is_read_with_what_stands_beside_its_detail() {
        for (detail_type, status) in
            [("OrderPlaced", Status::Placed), ("OrderPaid", Status::Paid), ("OrderCancelled", Status::Cancelled)]
        {
            let event = read(SOURCE, detail_type, json!(3)).unwrap();
            assert_eq!((event.status, event.order.sequence), (status, 3));
        }
    }

    #[test]
    fn another_event_is_no_order() {
        assert!(read("com.example.returns", "OrderPaid", json!(1)).unwrap_err().starts_with("source: "));
        assert!(read(SOURCE, "OrderShipped", json!(1)).unwrap_err().starts_with("detail-type: "));
        for sequence in [json!(null), json!("1"), json!(-1), json!(1.5)] {
            assert!(read(SOURCE, "OrderPaid", sequence).unwrap_err().starts_with("sequence: "));
        }
    }
}
