//! One test for each kind of HTTP event.

/// Makes of each `async fn name(kind: HttpKind)` a test per kind: `http_api::name`, `rest_api::name` and so on.
macro_rules! every_kind {
    ($($test:ident),+ $(,)?) => {
        every_kind!(@ http_api HttpApi $($test)+);
        every_kind!(@ rest_api RestApi $($test)+);
        every_kind!(@ alb Alb $($test)+);
        every_kind!(@ alb_multi_value AlbMultiValue $($test)+);
        every_kind!(@ function_url FunctionUrl $($test)+);
    };
    (@ $module:ident $kind:ident $($test:ident)+) => {
        mod $module {
            $(
                #[tokio::test]
                async fn $test() {
                    super::$test(idempotency_testkit::http_front::HttpKind::$kind).await;
                }
            )+
        }
    };
}
