//! Blocking calls on threads of a pool.

use std::future::Future;

/// Runs a blocking call on a thread of the pool. Dropped before the call has begun, it does not begin; later, it runs to its end.
/// A panic of the call's goes on in the caller.
pub(crate) fn run<T: Send + 'static>(
    call: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = T> + Send {
    blocking::unblock(call)
}

/// Drops a value on a thread of the pool, since that blocks.
#[cfg_attr(not(feature = "blob"), expect(dead_code, reason = "only blobs have such"))]
pub(crate) fn drop_there<T: Send + 'static>(value: T) {
    blocking::unblock(move || drop(value)).detach();
}
