//! What entity group transactions and store transactions have in common.

/// The messages that go with the changes, and what becomes of all: of a type with `operations`, `queue_ops`, and a `run` that
/// has them carried out or shown, by what it is given here for each.
macro_rules! messages_and_end {
    ([$($commit:expr),+], [$($explain:expr),+]) => {
        /// Sends a message with the changes: both happen, or neither. It is not received before the changes are there. The
        /// queue is of the same store.
        #[cfg(feature = "queue")]
        pub fn send<T>(self, queue: &Queue<T>, message: &T) -> Self {
            self.send_message(queue.message(message))
        }

        /// Sends a message with the changes, as [`send`](Self::send) does, that says more: when it shows, how long it lives, a
        /// unique key.
        #[cfg(feature = "queue")]
        pub fn send_message<T>(mut self, message: Message<'_, T>) -> Self {
            self.queue_ops.add(message.queue_op());
            self
        }

        /// Completes a message with the changes: both happen, or neither. So what a message asks for is done once, however
        /// often it is received. If it is held no more, nothing happens, and the error is
        /// [`StaleReceipt`](ErrorKind::StaleReceipt).
        #[cfg(feature = "queue")]
        pub fn complete<T>(mut self, received: &Received<T>) -> Self {
            self.queue_ops.add(Ok(received.queue_op()));
            self
        }

        /// Returns how many changes there are, messages aside.
        pub fn len(&self) -> usize {
            self.operations.len()
        }

        /// Returns whether there is no change yet, messages aside.
        pub fn is_empty(&self) -> bool {
            self.operations.is_empty()
        }

        /// Makes every change, or none. Returns the version of each entity that was written.
        pub fn commit(self) -> Result<Committed> {
            self.run($($commit),+)
        }

        /// Returns the rows that committing would touch, by table and partition: nothing is written.
        #[inline]
        pub fn explain(self) -> Result<WriteExplain> {
            self.run($($explain),+)
        }
    };
}
pub(super) use messages_and_end;
