//! Encrypted fields: sealed when an entity is changed, and sealed anew by a job.

#[cfg(feature = "encrypt")]
pub(in crate::typed) mod reencrypt;
pub(in crate::typed) mod sealing;
pub(in crate::typed) mod unopened;
