//! The services that functions call, each behind a fault proxy.

use std::net::SocketAddr;

use idempotency_testkit::{
    fault_proxy::FaultProxy, keyed_service::KeyedService, payment_provider::PaymentProvider, summariser::Summariser,
};

use crate::CliError;

/// The environment variables by which a function finds them.
pub(crate) const VARIABLES: [&str; 4] = ["PAYMENT_PROVIDER_URL", "CARRIER_URL", "SUMMARISER_URL", "NOTIFIER_URL"];

/// The services. A function reaches them through their proxies.
#[derive(Debug)]
pub(crate) struct Callees {
    pub(crate) provider: PaymentProvider,
    pub(crate) provider_proxy: FaultProxy,
    pub(crate) carrier: KeyedService,
    pub(crate) carrier_proxy: FaultProxy,
    pub(crate) summariser: Summariser,
    pub(crate) summariser_proxy: FaultProxy,
    pub(crate) notifier: KeyedService,
    pub(crate) notifier_proxy: FaultProxy,
}

impl Callees {
    /// Starts all of them, the payment provider on this address.
    pub(crate) async fn start(provider: SocketAddr) -> Result<Self, CliError> {
        let provider = PaymentProvider::start_on(provider).await?;
        let carrier = KeyedService::start().await?;
        let summariser = Summariser::start().await?;
        let notifier = KeyedService::start().await?;
        Ok(Self {
            provider_proxy: FaultProxy::start(provider.url()).await?,
            provider,
            carrier_proxy: FaultProxy::start(carrier.url()).await?,
            carrier,
            summariser_proxy: FaultProxy::start(summariser.url()).await?,
            summariser,
            notifier_proxy: FaultProxy::start(notifier.url()).await?,
            notifier,
        })
    }

    /// Where a function finds them.
    pub(crate) fn environment(&self) -> [(&'static str, &str); 4] {
        let [provider, carrier, summariser, notifier] = VARIABLES;
        [
            (provider, self.provider_proxy.endpoint_url()),
            (carrier, self.carrier_proxy.endpoint_url()),
            (summariser, self.summariser_proxy.endpoint_url()),
            (notifier, self.notifier_proxy.endpoint_url()),
        ]
    }

    pub(crate) const fn proxies(&self) -> [&FaultProxy; 4] {
        [&self.provider_proxy, &self.carrier_proxy, &self.summariser_proxy, &self.notifier_proxy]
    }

    pub(crate) async fn stop(self) {
        for proxy in [self.provider_proxy, self.carrier_proxy, self.summariser_proxy, self.notifier_proxy] {
            proxy.stop().await;
        }
        self.provider.stop().await;
        self.carrier.stop().await;
        self.summariser.stop().await;
        self.notifier.stop().await;
    }
}
