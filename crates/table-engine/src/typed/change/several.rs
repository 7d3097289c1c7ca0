//! What entity group transactions and store transactions have in common.

/// The messages that go with the changes, and how many those are: of a type with `operations` and `queue_ops`.
macro_rules! messages {
    () => {
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
        /// [`StaleReceipt`](crate::ErrorKind::StaleReceipt).
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
    };
}
pub(crate) use messages;

/// What becomes of all: of a type with a `run` that has the changes carried out or shown, by what it is given here for each.
macro_rules! ends {
    ([$($commit:expr),+], [$($explain:expr),+]) => {
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
pub(super) use ends;

/// The changes that both take: of a type with a `with` that adds one. `$entity` is what an entity has to be, `$send` what else a
/// closure has to be.
macro_rules! changes {
    ([$($entity:tt)+] [$($send:tt)*]) => {
        /// Adds an entity and its copies; there must be none of its key.
        pub fn insert<E: $($entity)+>(self, entity: &'c E) -> Self {
            self.with(Key::unused(), Change::Insert, Payload::Entity(entity))
        }

        /// Adds an entity, or puts it in the place of the one there.
        pub fn put<E: $($entity)+>(self, entity: &'c E) -> Self {
            self.with(Key::of(entity), Change::Put, Payload::Entity(entity))
        }

        /// Puts an entity in the place of the one there.
        pub fn replace<E: $($entity)+>(self, entity: &'c E, condition: impl IntoIfMatch) -> Self {
            self.with(Key::of(entity), Change::Replace(condition.into()), Payload::Entity(entity))
        }

        /// Sets what the patch sets on the entity there.
        pub fn merge<E: $($entity)+>(
            self,
            key: Key<E>,
            patch: impl PatchOf<E>,
            condition: impl IntoIfMatch,
        ) -> Self
        where
            E::Patch: 'c,
        {
            self.with(key, Change::Merge(condition.into()), Payload::Patch(patch.into()))
        }

        /// Changes the entity there. The closure may run several times, and can't change the primary key.
        pub fn update<E: $($entity)+>(self, key: Key<E>, change: impl FnMut(&mut E) $($send)* + 'c) -> Self {
            self.with(key, Change::Update, Payload::Closure(Box::new(change)))
        }

        /// Adds to slots of the entity there, as [`Table::add`](crate::Table::add) does. Here the entity is read, and the
        /// changes are made again if another writer was quicker with it.
        pub fn add<E: $($entity)+>(self, key: Key<E>, add: impl AddsTo<E>) -> Self {
            self.with(key, Change::Add, Payload::Additions(Box::new(add.into())))
        }

        /// Changes the entity there, its row key too. The closure may run several times. To another partition an entity comes
        /// by a [`delete`](Self::delete) and an [`insert`](Self::insert) of a transaction of the store.
        pub fn move_to<E: $($entity)+>(self, key: Key<E>, change: impl FnMut(&mut E) $($send)* + 'c) -> Self {
            self.with(key, Change::Move, Payload::Closure(Box::new(change)))
        }

        /// Removes the entity there with its copies.
        pub fn delete<E: $($entity)+>(self, key: Key<E>) -> Self {
            self.delete_if(key, IfMatch::Any)
        }

        /// Removes the entity there with its copies, if it is of the version demanded.
        pub fn delete_if<E: $($entity)+>(self, key: Key<E>, condition: impl IntoIfMatch) -> Self {
            self.with(key, Change::Delete(condition.into()), Payload::Nothing)
        }
    };
}
pub(crate) use changes;
