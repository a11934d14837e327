extern crate self as lambda_idempotency;

pub trait Store {}

pub struct Idempotency<S>(S);

pub struct Attempt;

pub mod __private {
    pub struct Request;
    pub struct Response<B>(B);
    pub struct Body;
    pub struct Error;
}
