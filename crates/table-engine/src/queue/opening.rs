//! Queues by their names: opened, looked for, made, listed and dropped.

use super::{DEQUEUES, Json, Messages, Queue};
use crate::error::Result;
use crate::executor::Queues;
use crate::handle::tables::Tables;
use crate::messages::{QueueId, name};

impl Tables {
    /// Returns the queue of this name, made if there is none.
    ///
    /// A name has 3 to 56 small letters, digits and hyphens, as the service has it, with room for `-poison` behind it.
    /// Messages that are received too often go to the queue `{name}-poison`, which is made when it is needed.
    pub fn queue<T: Messages>(&self, name: &str) -> Result<Queue<T>> {
        let open = || {
            name::check(name)?;
            self.backend().queues()?.open(name)
        };
        let id = open().map_err(|error| error.attempted("open").queue(name))?;
        Ok(self.queue_of(name, id))
    }

    /// Returns the queue of this name; `None` if there is none. Unlike [`queue`](Self::queue), it makes none.
    pub fn find_queue<T: Messages>(&self, name: &str) -> Result<Option<Queue<T>>> {
        let find = || {
            name::check(name)?;
            self.backend().queues()?.find(name)
        };
        let found = find().map_err(|error| error.attempted("find").queue(name))?;
        Ok(found.map(|id| self.queue_of(name, id)))
    }

    /// Makes a queue of this name, unless there is one; returns it, and whether it was made. Of several that make it at one time,
    /// one is told that it has.
    pub fn create_queue<T: Messages>(&self, name: &str) -> Result<(Queue<T>, bool)> {
        let create = || {
            name::check(name)?;
            self.backend().queues()?.create(name)
        };
        let (id, is_new) = create().map_err(|error| error.attempted("create").queue(name))?;
        Ok((self.queue_of(name, id), is_new))
    }

    fn queue_of<T: Messages>(&self, name: &str, id: QueueId) -> Queue<T> {
        Queue { store: self.clone(), name: name.into(), id, dequeues: DEQUEUES, json: Json::NEW }
    }

    /// Returns the names of all queues, in alphabetical order.
    pub fn queues(&self) -> Result<Vec<String>> {
        let names = self.backend().queues().and_then(Queues::names);
        names.map_err(|error| error.attempted("list the queues"))
    }

    /// Drops a queue with all its messages. A handle of it that is still there gets
    /// [`QueueNotFound`](crate::ErrorKind::QueueNotFound).
    ///
    /// It is gone at once, in one small transaction. Its records go in steps before this returns, and others write in
    /// between; where a crash comes between, `Store::reclaim` and the next drop remove them.
    pub fn drop_queue(&self, name: &str) -> Result<()> {
        let drop = || {
            name::check(name)?;
            self.backend().queues()?.drop_queue(name)
        };
        drop().map_err(|error| error.attempted("drop").queue(name))
    }
}
