//! Where events go, and in which requests.

use std::{collections::BTreeMap, future::Future, pin::Pin};

use futures::{StreamExt as _, future::join_all, stream};
use idempotency_core::{Destination, OutboxEntry};

use crate::{
    bus::{self, Bus},
    chunks::chunks,
    queues::{self, Queues},
    send_error::SendError,
};

/// The environment variable with the bus.
pub(crate) const BUS: &str = "OUTBOX_BUS";

/// The environment variable with the queues.
pub(crate) const QUEUES: &str = "OUTBOX_QUEUES";

/// Requests at once. A function of this size is busy with fewer.
const SIDE_BY_SIDE: usize = 16;

/// The bus and the queues.
#[derive(Debug)]
pub(crate) struct Routes {
    pub(crate) bus: Option<Bus>,
    pub(crate) queues: Queues,
}

/// What became of an event, and which of those given it was.
type Sent = (usize, Result<(), SendError>);
type Request<'a> = Pin<Box<dyn Future<Output = Vec<Sent>> + Send + 'a>>;

impl Routes {
    /// Sends events that need not be in order, in as few requests as can be. What became of each is in their order.
    pub(crate) async fn send(&self, entries: &[&OutboxEntry]) -> Vec<Result<(), SendError>> {
        let (mut to_bus, mut to_queues) = (Vec::new(), BTreeMap::<&str, Vec<_>>::new());
        for (place, entry) in entries.iter().enumerate() {
            match &entry.destination {
                Destination::EventBridge { .. } => to_bus.push((place, *entry)),
                Destination::Queue { name } => to_queues.entry(name).or_default().push((place, *entry)),
            }
        }
        let to_queues = to_queues.iter().flat_map(|(name, entries)| self.to_queue(name, entries));
        let requests: Vec<Request<'_>> = self.to_bus(&to_bus).into_iter().chain(to_queues).collect();
        let mut sent: Vec<Sent> = stream::iter(requests).buffer_unordered(SIDE_BY_SIDE).concat().await;
        sent.sort_by_key(|(place, _)| *place);
        sent.into_iter().map(|(_, result)| result).collect()
    }

    fn to_bus<'a>(&'a self, entries: &[(usize, &'a OutboxEntry)]) -> Vec<Request<'a>> {
        let Some(bus) = &self.bus else { return vec![failed(entries, &SendError::NoBus)] };
        let (mut events, mut bad) = (Vec::new(), Vec::new());
        for (place, entry) in entries {
            let Destination::EventBridge { source, detail_type } = &entry.destination else { continue };
            match bus.entry(source, detail_type, entry) {
                Ok(event) => events.push((*place, event)),
                Err(error) => bad.push((*place, Err(error))),
            }
        }
        let sizes: Vec<_> = events.iter().map(|(_, event)| bus::size(event)).collect();
        let requests = chunks(&sizes).into_iter().map(|chunk| -> Request<'a> {
            let chunk = events.get(chunk).unwrap_or_default().to_vec();
            Box::pin(request(chunk, move |events| bus.put(events)))
        });
        requests.chain([settled(bad)]).collect()
    }

    fn to_queue<'a>(&'a self, name: &str, entries: &[(usize, &'a OutboxEntry)]) -> Vec<Request<'a>> {
        let Some(url) = self.queues.url(name) else {
            return vec![failed(entries, &SendError::NoQueue { name: name.to_owned() })];
        };
        let (mut messages, mut sizes, mut bad) = (Vec::new(), Vec::new(), Vec::new());
        for (place, entry) in entries {
            match queues::message(url, *place, entry) {
                Ok(message) => {
                    messages.push((*place, message));
                    sizes.push(queues::size(entry));
                }
                Err(error) => bad.push((*place, Err(error))),
            }
        }
        let requests = chunks(&sizes).into_iter().map(|chunk| -> Request<'a> {
            let chunk = messages.get(chunk).unwrap_or_default().to_vec();
            Box::pin(request(chunk, move |messages| self.queues.send(url, messages)))
        });
        requests.chain([settled(bad)]).collect()
    }
}

/// One request, and one for each alone when it is refused as a whole: then one of them is bad, and the others are not.
async fn request<E: Clone, F>(entries: Vec<(usize, E)>, send: impl Fn(Vec<E>) -> F) -> Vec<Sent>
where
    F: Future<Output = Result<Vec<Result<(), SendError>>, SendError>>,
{
    let (places, entries): (Vec<_>, Vec<_>) = entries.into_iter().unzip();
    let results = match send(entries.clone()).await {
        Ok(results) => results,
        Err(SendError::Refused(_)) if entries.len() > 1 => {
            let alone = entries.into_iter().map(|entry| send(vec![entry]));
            let alone = join_all(alone).await.into_iter();
            alone.map(|result| result?.pop().unwrap_or(Err(SendError::of_entry(None, None)))).collect()
        }
        Err(error) => vec![Err(error); places.len()],
    };
    places.into_iter().zip(results).collect()
}

fn failed<'a>(entries: &[(usize, &OutboxEntry)], error: &SendError) -> Request<'a> {
    settled(entries.iter().map(|(place, _)| (*place, Err(error.clone()))).collect())
}

fn settled<'a>(sent: Vec<Sent>) -> Request<'a> {
    Box::pin(async { sent })
}
