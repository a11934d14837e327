//! Panics of the code under test: known ones of `lambda_http` are told apart from all others.

use std::{
    cell::{Cell, RefCell},
    panic::{self, AssertUnwindSafe},
    sync::Once,
};

/// A place where `lambda_http` 1.3 and `aws_lambda_events` 1.2 panic over a broken event, before the handler is called. The
/// runtime catches the panic and reports an error ("lambda_runtime", `layers/panic.rs`), so a caller sees what it would see if the event
/// had been refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Known {
    /// A body that says it is base64 and is not.
    Base64,
    /// A host, protocol or path out of which no URL can be made.
    Url,
}

thread_local! {
    static CATCHING: Cell<bool> = const { Cell::new(false) };
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs `f`; a panic at a known place is an error, any other goes on.
pub(crate) fn caught<T>(f: impl FnOnce() -> T) -> Result<T, Known> {
    remember_places();
    CATCHING.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(f));
    CATCHING.set(false);
    result.map_err(|panic| {
        let place = PLACE.take();
        if place.contains("/aws_lambda_events-1.2.") && place.contains("/src/encodings/http.rs") {
            Known::Base64
        } else if place.contains("/lambda_http-1.3.") && place.contains("/src/request.rs") {
            Known::Url
        } else {
            let message =
                panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref().map(|s: &&str| (*s).into()));
            panic!("the code under test panicked at {place}: {}", message.unwrap_or_default())
        }
    })
}

/// While a panic is being caught, its place is kept and nothing is printed.
fn remember_places() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| match CATCHING.get() {
            true => PLACE.set(info.location().map(ToString::to_string).unwrap_or_default()),
            false => before(info),
        }));
    });
}
