use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What the provider does to requests. The counters count down as they are used.
///
/// Over HTTP the durations are whole milliseconds, named `…_ms`; what is left out is the default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Behaviour {
    /// Time from a request's arrival until the charge is made.
    #[serde(rename = "delay_before_charging_ms", with = "millis")]
    pub delay_before_charging: Duration,
    /// Time from the charge until the answer.
    #[serde(rename = "delay_after_charging_ms", with = "millis")]
    pub delay_after_charging: Duration,
    /// That many requests are turned away with 429 and charge nothing. Their keys stay free.
    pub turn_away: u32,
    /// That many requests fail with 500 and charge nothing. Their keys stay free.
    pub fail_before_charging: u32,
    /// That many requests charge, and then answer 500. A retry with the same key gets the charge.
    pub fail_after_charging: u32,
    /// That many requests are declined with 402, which is stored under their keys.
    pub decline: u32,
    /// That many refunds are turned away with 429 and give nothing back.
    pub turn_away_refunds: u32,
    /// That many refunds are refused for good, whatever became of their charges.
    pub refuse_refunds: u32,
    /// Keys are ignored: every request charges. A provider without idempotency.
    pub ignore_keys: bool,
}

/// Takes one from a counter.
pub(super) fn take(counter: &mut u32) -> bool {
    let some = *counter > 0;
    *counter = counter.saturating_sub(1);
    some
}

mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        duration.as_millis().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_millis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_round_trip_in_milliseconds() {
        let behaviour = Behaviour {
            delay_before_charging: Duration::from_millis(20),
            decline: 2,
            ignore_keys: true,
            ..Behaviour::default()
        };

        let json = serde_json::to_value(&behaviour).unwrap();

        assert_eq!(json["delay_before_charging_ms"], 20);
        assert_eq!(serde_json::from_value::<Behaviour>(json).unwrap(), behaviour);
        assert_eq!(serde_json::from_str::<Behaviour>("{}").unwrap(), Behaviour::default());
        assert!(serde_json::from_str::<Behaviour>(r#"{"declines":1}"#).is_err(), "a typo must not be silent");
    }
}
