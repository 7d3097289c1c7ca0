//! Texts of settings.

use std::net::SocketAddr;
use std::time::Duration;

use table_core::Durability;
use tracing::level_filters::LevelFilter;

use crate::account::is_name;
use crate::log::LogFormat;

pub(super) fn address(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse().map_err(|_| "it must be an address and a port, such as `127.0.0.1:10002` or `[::1]:10002`")
}

/// Reads an address, or `none`.
pub(super) fn address_or_none(text: &str) -> Result<Option<SocketAddr>, &'static str> {
    if text == "none" {
        return Ok(None);
    }
    let wrong = "it must be an address and a port, such as `127.0.0.1:10003`, or `none`";
    text.parse().map(Some).map_err(|_| wrong)
}

pub(super) fn durability(text: &str) -> Result<Durability, &'static str> {
    match text {
        "durable" => Ok(Durability::Durable),
        "relaxed" => Ok(Durability::Relaxed),
        _ => Err("it must be `durable` or `relaxed`"),
    }
}

pub(super) fn log_level(text: &str) -> Result<LevelFilter, &'static str> {
    match text {
        "error" => Ok(LevelFilter::ERROR),
        "warn" => Ok(LevelFilter::WARN),
        "info" => Ok(LevelFilter::INFO),
        "debug" => Ok(LevelFilter::DEBUG),
        _ => Err("it must be `error`, `warn`, `info` or `debug`"),
    }
}

pub(super) fn log_format(text: &str) -> Result<LogFormat, &'static str> {
    match text {
        "lines" => Ok(LogFormat::Lines),
        "json" => Ok(LogFormat::Json),
        _ => Err("it must be `lines` or `json`"),
    }
}

pub(super) fn flag(text: &str) -> Result<bool, &'static str> {
    text.parse().map_err(|_| "it must be `true` or `false`")
}

pub(super) fn account(text: &str) -> Result<String, &'static str> {
    if is_name(text) { Ok(text.to_owned()) } else { Err("it must be 3 to 24 lower-case letters and digits") }
}

/// Reads a count that is not zero.
pub(super) fn count(text: &str) -> Result<usize, &'static str> {
    let count = text.parse().ok().filter(|count| *count > 0);
    count.ok_or("it must be a number from 1 on")
}

/// Reads a time, such as `30s`, `500ms` or `2min`.
pub(super) fn time(text: &str) -> Result<Duration, &'static str> {
    let wrong = "it must be a time from 1ms to 1440min, such as `30s`, `500ms` or `2min`";
    let (number, unit) = split(text).ok_or(wrong)?;
    let unit = match unit {
        "ms" => 1,
        "s" => 1_000,
        "min" => 60_000,
        _ => return Err(wrong),
    };
    let milliseconds = number.checked_mul(unit).filter(|ms| (1..=86_400_000).contains(ms)).ok_or(wrong)?;
    Ok(Duration::from_millis(milliseconds))
}

/// Reads a number of bytes, such as `64GiB`.
pub(super) fn size(text: &str) -> Result<usize, &'static str> {
    let wrong = "it must be a number of bytes from 1MiB on, such as `512MiB`, `64GiB` or `1TiB`";
    let (number, unit) = split(text).ok_or(wrong)?;
    let unit = match unit {
        "" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1 << 40,
        _ => return Err(wrong),
    };
    let bytes = number.checked_mul(unit).filter(|bytes| *bytes >= 1 << 20).ok_or(wrong)?;
    usize::try_from(bytes).map_err(|_| wrong)
}

/// Splits a number from its unit.
fn split(text: &str) -> Option<(u64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    Some((number.parse().ok()?, unit))
}
