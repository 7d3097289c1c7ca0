//! Encrypted fields: sealed when an entity is changed, and sealed anew by a job.

#[cfg(feature = "encrypt")]
pub(crate) mod reencrypt;
pub(crate) mod sealing;
pub(crate) mod unopened;
