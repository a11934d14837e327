//! A bus whose rule invokes the function.

use idempotency_testkit::{eventbridge::Rule, lambda::Function};

use super::{Entrance, Services, invoker};
use crate::{CliError, StackOptions};

/// The source that `order-events` listens to, and its detail types.
const ORDERS: &str = "com.example.orders";
const DETAIL_TYPES: [&str; 3] = ["OrderPlaced", "OrderPaid", "OrderCancelled"];

pub(super) fn open(
    options: &StackOptions,
    stem: &str,
    services: &Services,
    function: &Function,
) -> Result<Entrance, CliError> {
    let (invoker, dead_letters) = invoker(options, stem, services, function)?;
    services.bus.add_rule(rule(&options.function).target(invoker.clone()));
    Ok(Entrance::EventBridge { invoker, dead_letters })
}

/// As in `template.yaml`. A function of the user's own gets all events.
fn rule(function: &str) -> Rule {
    let rule = Rule::new(function);
    match function {
        "order-events" => DETAIL_TYPES.iter().fold(rule.source(ORDERS), |rule, kind| rule.detail_type(*kind)),
        _ => rule,
    }
}
