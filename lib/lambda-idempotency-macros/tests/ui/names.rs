extern crate self as lambda_idempotency;

pub trait Store {}

pub struct Idempotency<S>(S);

pub struct Attempt;

pub mod http {
    pub struct Reply;
}

pub mod function {
    pub struct Done<R>(R);
    pub struct Error<E>(E);
}

pub mod __private {
    pub struct Request;
    pub struct Error;
}
