//! What the function needs, from its environment.

use std::{env, time::Duration};

use lambda_http::Error;
use lambda_idempotency::{
    Idempotency, OnAbandoned,
    http::{InFlight, ScopeSource, scope},
};

use crate::{accounts::Accounts, carrier::Carrier, charges::Charges, order::Shop, provider::Provider, stock::Stock};

/// What the handlers share.
pub(crate) struct App {
    pub(crate) idempotency: Idempotency,
    pub(crate) provider: Provider,
    pub(crate) charges: Charges,
    pub(crate) accounts: Accounts,
    pub(crate) shop: Shop,
}

impl App {
    /// # Errors
    ///
    /// When a variable is missing or has a value that means nothing: the function does not start then.
    pub(crate) async fn from_env() -> Result<Self, Error> {
        let idempotency = Idempotency::from_env().await?;
        // One client for all tables: its connections are shared.
        let client = idempotency.engine().store().client().clone();
        parse_on_abandoned(env::var("ON_ABANDONED").ok().as_deref())?;
        parse_in_flight(env::var("IN_FLIGHT").ok().as_deref())?;
        parse_tenant_from(env::var("TENANT_FROM").ok().as_deref())?;
        Ok(Self {
            charges: Charges::new(client.clone(), variable("CHARGES_TABLE")?),
            provider: Provider::new(&variable("PAYMENT_PROVIDER_URL")?)?,
            accounts: Accounts::new(client.clone(), variable("ACCOUNTS_TABLE")?, variable("LEDGER_TABLE")?),
            shop: Shop {
                stock: Stock::new(client, variable("STOCK_TABLE")?),
                carrier: Carrier::new(&variable("CARRIER_URL")?)?,
                orders: variable("SHOP_ORDERS_TABLE")?,
            },
            idempotency,
        })
    }
}

/// The function's choice for lost attempts. `App::from_env` has refused what cannot be read.
pub(crate) fn on_abandoned() -> OnAbandoned {
    parse_on_abandoned(env::var("ON_ABANDONED").ok().as_deref()).unwrap_or(OnAbandoned::Reject)
}

fn parse_on_abandoned(value: Option<&str>) -> Result<OnAbandoned, Error> {
    match value {
        None | Some("" | "rerun") => Ok(OnAbandoned::Rerun),
        Some("reject") => Ok(OnAbandoned::Reject),
        Some("probe") => Ok(OnAbandoned::Probe),
        Some(other) => Err(format!("ON_ABANDONED is {other:?}; it must be rerun, reject or probe").into()),
    }
}

/// How long a duplicate waits with `IN_FLIGHT=wait`.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The function's choice for duplicates of a charge that is being made. `App::from_env` has refused what cannot be read.
pub(crate) fn in_flight() -> InFlight {
    parse_in_flight(env::var("IN_FLIGHT").ok().as_deref()).unwrap_or_default()
}

fn parse_in_flight(value: Option<&str>) -> Result<InFlight, Error> {
    match value {
        None | Some("" | "conflict") => Ok(InFlight::Conflict),
        Some("wait") => Ok(InFlight::Wait(LONGEST_WAIT)),
        Some("accepted") => Ok(InFlight::Accepted),
        Some(other) => Err(format!("IN_FLIGHT is {other:?}; it must be conflict, wait or accepted").into()),
    }
}

/// Where a request's tenant is found. `App::from_env` has refused what cannot be read.
pub(crate) fn tenant_scope() -> ScopeSource {
    parse_tenant_from(env::var("TENANT_FROM").ok().as_deref()).unwrap_or_else(|_| scope::jwt_claim("sub"))
}

fn parse_tenant_from(value: Option<&str>) -> Result<ScopeSource, Error> {
    match value {
        None | Some("" | "jwt") => Ok(scope::jwt_claim("sub")),
        Some("iam") => Ok(scope::iam_caller()),
        Some("load-balancer") => Ok(scope::load_balancer_identity()),
        Some(other) => Err(format!("TENANT_FROM is {other:?}; it must be jwt, iam or load-balancer").into()),
    }
}

fn variable(name: &str) -> Result<String, Error> {
    let value = env::var(name).unwrap_or_default();
    if value.trim().is_empty() { Err(format!("environment variable {name} is not set").into()) } else { Ok(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_policies_are_taken() {
        assert_eq!(parse_on_abandoned(None).unwrap(), OnAbandoned::Rerun);
        assert_eq!(parse_on_abandoned(Some("reject")).unwrap(), OnAbandoned::Reject);
        assert!(parse_on_abandoned(Some("Reject")).unwrap_err().to_string().contains("must be rerun, reject or probe"));
    }

    #[test]
    fn only_known_answers_to_duplicates_are_taken() {
        assert_eq!(parse_in_flight(None).unwrap(), InFlight::Conflict);
        assert_eq!(parse_in_flight(Some("accepted")).unwrap(), InFlight::Accepted);
        assert!(parse_in_flight(Some("202")).unwrap_err().to_string().contains("must be conflict, wait or accepted"));
    }

    #[test]
    fn only_known_places_of_the_tenant_are_taken() {
        for known in [None, Some(""), Some("jwt"), Some("iam"), Some("load-balancer")] {
            assert!(parse_tenant_from(known).is_ok(), "{known:?}");
        }
        assert!(
            parse_tenant_from(Some("header")).unwrap_err().to_string().contains("must be jwt, iam or load-balancer")
        );
    }
}
