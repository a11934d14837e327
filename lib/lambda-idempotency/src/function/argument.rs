//! What counts as part of a call.

use serde::Serialize;

/// An argument that counts as part of the call: anything that implements [`Serialize`], by its JSON.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a call",
    label = "this argument must implement `serde::Serialize`",
    note = "arguments are part of what is asked, so that the same key with other arguments is noticed; derive `Serialize` for a type of your own",
    note = "what does not count, such as a client or a pool, is shared state: take a reference, `&{Self}`, or mark the argument `#[shared]`"
)]
pub trait Argument: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + ?Sized> Argument for T {}
