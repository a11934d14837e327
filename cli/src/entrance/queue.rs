//! A queue with its dead-letter queue, and the event source mapping that invokes the function.

use idempotency_testkit::{
    lambda::Function,
    sqs::{EventSourceMapping, MappingError},
};

use super::{Entrance, Services};
use crate::{CliError, QueueOptions};

pub(super) fn open(
    options: &QueueOptions,
    stem: &str,
    services: &Services,
    function: &Function,
) -> Result<Entrance, CliError> {
    let dead_letters = services.sqs.create_queue(options.dead_letter_queue(stem))?;
    let queue = services.sqs.create_queue(options.queue(stem))?;
    let mapping =
        EventSourceMapping::start(&queue, function.clone(), options.mapping()).map_err(|error| match error {
            MappingError::ShortVisibility { visibility_timeout, function_timeout } => {
                CliError::ShortVisibility { visibility_timeout, function_timeout }
            }
            error => CliError::Mapping(error),
        })?;
    Ok(Entrance::Sqs { queue, dead_letters, mapping })
}
