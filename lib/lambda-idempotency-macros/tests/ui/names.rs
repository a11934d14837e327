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

pub mod events {
    pub trait Source {
        type Event;
        type Response;
    }
    pub struct Sqs;
    pub struct Kinesis;
    pub struct DeliveryError;

    impl Source for Sqs {
        type Event = ();
        type Response = ();
    }
    impl Source for Kinesis {
        type Event = ();
        type Response = ();
    }
}

pub mod __private {
    pub struct LambdaEvent<E>(E);
    pub struct Request;
    pub struct Error;
}
