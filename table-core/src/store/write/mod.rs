//! Changes, from operations to LMDB's puts: checked and put into bytes outside a transaction, applied inside one, and
//! committed together with those of other threads.

pub(in crate::store) mod apply;
pub(in crate::store) mod commit;
mod declared;
pub(in crate::store) mod prepare;
pub(in crate::store) mod range;

#[cfg(test)]
mod tests;
