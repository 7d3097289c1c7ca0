//! A request for queues whose sender is known, and what every operation asks of it.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::auth::QueueCaller;
use crate::exchange::Request;
use crate::fault::Fault;
use crate::wire::parameters::Parameters;

/// The longest time that a message is hidden for: seven days, in seconds.
pub(super) const LONGEST_HIDDEN: i64 = 7 * 24 * 60 * 60;

/// A request that is being answered.
pub(super) struct Call<'r> {
    pub(super) request: &'r Request,
    pub(super) method: &'r str,
    pub(super) parameters: &'r Parameters,
    pub(super) caller: &'r QueueCaller,
    /// Whether it came to the account's secondary address, which only reads.
    pub(super) is_secondary: bool,
    /// The address of the service, as the sender has it: nothing in it needs an escape in XML.
    pub(super) root: &'r str,
}

/// What a token must permit.
pub(super) struct Need {
    /// One of these letters of an account's token.
    letters: &'static str,
    /// For resources of this type: `s` for the service, `c` for queues, `o` for messages.
    of: char,
    /// Or this letter of the queue's token.
    letter: Option<char>,
}

impl Need {
    /// Needs one of these letters of an account's token, for resources of this type.
    pub(super) const fn of_account(letters: &'static str, of: char) -> Self {
        Self { letters, of, letter: None }
    }

    /// Takes this letter of the queue's token, too.
    pub(super) const fn or_of_queue(self, letter: char) -> Self {
        Self { letter: Some(letter), ..self }
    }
}

impl Call<'_> {
    /// Refuses a sender who may not do this.
    pub(super) fn need(&self, need: &Need) -> Result<(), Fault> {
        if self.caller.permits(need.letters, need.of, need.letter) {
            return Ok(());
        }
        match self.caller {
            QueueCaller::Token(token) if token.is_of_account() && !token.is_for_resources(need.of) => {
                Err(Fault::wrong_resource_type())
            }
            _ => Err(Fault::not_authorized()),
        }
    }

    /// Returns the value of a parameter; one without a value counts as absent.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).filter(|value| !value.is_empty())
    }

    /// Returns the value of a parameter that the operation needs.
    pub(super) fn must_get(&self, name: &str) -> Result<&str, Fault> {
        self.get(name).ok_or_else(|| {
            let text =
                format!("A query parameter that's mandatory for this request is not specified: {name}.");
            Fault::new(400, "MissingRequiredQueryParameter", text)
        })
    }

    /// Returns the number that a parameter gives, if it is there.
    pub(super) fn number(&self, name: &str, range: RangeInclusive<i64>) -> Result<Option<i64>, Fault> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let number: i64 = text.parse().map_err(|_| wrong_value(name, "a whole number"))?;
        if range.contains(&number) {
            return Ok(Some(number));
        }
        let (least, most) = range.into_inner();
        let text = format!(
            "One of the query parameters specified in the request URI is outside the permissible range: `{name}` is a number \
             from {least} to {most}."
        );
        Err(Fault::new(400, "OutOfRangeQueryParameterValue", text))
    }

    /// Returns for how long `visibilitytimeout` has a message hidden, if it is there.
    pub(super) fn hidden(&self, least: i64) -> Result<Option<Duration>, Fault> {
        Ok(self.number("visibilitytimeout", least..=LONGEST_HIDDEN)?.map(seconds))
    }
}

/// Returns so many seconds, which are none if they are less.
pub(super) fn seconds(seconds: i64) -> Duration {
    Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
}

/// Makes the refusal of a parameter's value that it can't have.
#[cold]
pub(super) fn wrong_value(name: &str, right: &str) -> Fault {
    let text = format!(
        "Value for one of the query parameters specified in the request URI is invalid: `{name}` is {right}."
    );
    Fault::new(400, "InvalidQueryParameterValue", text)
}
