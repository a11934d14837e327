//! What the function needs, from its environment.

use std::env;

use lambda_idempotency::Idempotency;
use lambda_runtime::Error;

use crate::{
    chunk_table::ChunkTable, claim::Name, claim_table::ClaimTable, intake::Intake, notifier::Notifier,
    summariser::HttpSummariser,
};

const SUMMARISER: &str = "SUMMARISER_URL";
const NOTIFIER: &str = "NOTIFIER_URL";

/// What the invocations share.
pub(crate) struct App {
    pub(crate) idempotency: Idempotency,
    pub(crate) intake: Intake,
}

impl App {
    /// # Errors
    ///
    /// When a variable is missing or has a value that means nothing: the function does not start then.
    pub(crate) async fn from_env() -> Result<Self, Error> {
        let idempotency = Idempotency::from_env().await?;
        // One client for all tables: its connections are shared.
        let client = idempotency.engine().store().client().clone();
        Ok(Self {
            intake: Intake {
                chunks: ChunkTable::new(client.clone(), variable("CHUNKS_TABLE")?),
                claims: ClaimTable::new(client, variable("CLAIMS_TABLE")?),
                model: parse_model(variable("CHUNK_MODEL")?)?,
                summariser: Box::new(HttpSummariser::new(SUMMARISER, &variable(SUMMARISER)?)?),
                notifier: Notifier::new(NOTIFIER, &variable(NOTIFIER)?)?,
            },
            idempotency,
        })
    }
}

fn parse_model(model: String) -> Result<Name, Error> {
    Name::try_from(model).map_err(|why| format!("environment variable CHUNK_MODEL {why}").into())
}

fn variable(name: &str) -> Result<String, Error> {
    let value = env::var(name).unwrap_or_default();
    if value.trim().is_empty() { Err(format!("environment variable {name} is not set").into()) } else { Ok(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_name_of_a_model_is_taken() {
        assert_eq!(parse_model("titan-v2.1".to_owned()).unwrap().as_str(), "titan-v2.1");
        let told = parse_model("titan v2".to_owned()).unwrap_err().to_string();
        assert!(told.contains("CHUNK_MODEL must be 1 to 64 letters"), "{told}");
    }
}
