//! What a plan's statement makes of rows that are there already.

/// What is set of a row that is there already, and what must be so of it.
pub(crate) struct Rewrite<'f> {
    pub(crate) time: &'f str,
    pub(crate) times: Times,
}

/// What becomes of the times of rows that are there already.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Times {
    /// They rise.
    Risen,
    /// They stay.
    Kept,
    /// They are another entity's version, whatever they were.
    Given,
}

impl Rewrite<'_> {
    /// Returns the assignments, with these values of the kind and the body, of a row `t`.
    pub(crate) fn set(&self, kind: &str, body: &str) -> String {
        let time = self.time;
        match self.times {
            Times::Risen => format!("ts = {time}, kind = {kind}, body = {body}, again = NULL"),
            Times::Kept => format!("kind = {kind}, body = {body}, again = coalesce(t.again, 0) + 1"),
            Times::Given => {
                format!("ts = {time}, kind = {kind}, body = {body}, again = coalesce(t.again, 0) + 1")
            }
        }
    }

    /// Returns what must be so of a row `t`.
    pub(crate) fn condition(&self) -> String {
        if self.times == Times::Risen { format!("t.ts < {}", self.time) } else { "true".to_owned() }
    }

    /// Returns what becomes of a row that is there already and was not to be looked at.
    pub(crate) fn on_conflict(&self) -> String {
        let (set, condition) = (self.set("EXCLUDED.kind", "EXCLUDED.body"), self.condition());
        format!("ON CONFLICT (pk, rk) DO UPDATE SET {set} WHERE {condition} RETURNING 1")
    }
}
