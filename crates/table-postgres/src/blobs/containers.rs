//! Containers of blobs, and what a program asks of a store's blobs.

use std::sync::Arc;

use table_engine::__executor::{
    self as executor, BlobAnswer, BlobId, BlobSnapshot, BlobTask, Blobs, ContainerId,
};
use table_engine::{Error, ErrorKind, Result};

use super::snapshot::PostgresBlobs;
use super::{sweep, tasks};
use crate::catalog::column;
use crate::connection::Call;
use crate::param::{Param, Params};
use crate::snapshot::PostgresSnapshot;
use crate::store::PostgresStore;

impl PostgresStore {
    /// Returns the number of a container, which must be one of this store's.
    pub(super) fn container_number(&self, container: ContainerId) -> Result<i64> {
        if container.store == self.identity {
            return Ok(container.number.into());
        }
        let because =
            format!("container number {} is another store's: get a handle from this one", container.number);
        Err(executor::error(ErrorKind::ContainerNotFound, because))
    }

    fn find_container(&self, name: &str) -> Result<Option<i64>> {
        let sql = format!("SELECT id::bigint FROM {} WHERE name = $1", self.blobs.containers);
        self.query(&of_name(sql, name))?.first().map(|row| column(row, 0)).transpose()
    }
}

impl Blobs for PostgresStore {
    fn identity(&self) -> [u8; 16] {
        self.bytes
    }

    fn container(&self, name: &str) -> Result<ContainerId> {
        let id = |number: i64| {
            let number =
                u32::try_from(number).map_err(|_| crate::error::damaged("the number of a container"))?;
            Ok(ContainerId { store: self.identity, number })
        };
        if let Some(number) = self.find_container(name)? {
            return id(number);
        }
        let sql = format!("INSERT INTO {} (name) VALUES ($1) ON CONFLICT DO NOTHING", self.blobs.containers);
        self.query(&of_name(sql, name))?;
        self.find_container(name)?.ok_or_else(no_such_container).and_then(id)
    }

    fn containers(&self) -> Result<Vec<String>> {
        let sql = format!("SELECT name FROM {} WHERE name IS NOT NULL ORDER BY name", self.blobs.containers);
        self.query(&Call { sql, params: Params::default() })?.iter().map(|row| column(row, 0)).collect()
    }

    fn drop_container(&self, name: &str) -> Result<()> {
        let Some(number) = self.find_container(name)? else {
            return Err(executor::error(ErrorKind::ContainerNotFound, "there is no such container"));
        };
        // It waits for those who are writing to it, and has them refused who come later.
        let sql = format!("UPDATE {} SET name = NULL WHERE id = $1", self.blobs.containers);
        self.query(&of_number(sql, number))?;
        sweep::dropped(self)
    }

    fn carry_out(self: Arc<Self>, tasks: Vec<BlobTask>) -> Result<Vec<BlobAnswer>> {
        tasks::carry_out(&self, &tasks)
    }

    fn read_snapshot(self: Arc<Self>) -> Result<Box<dyn BlobSnapshot>> {
        Ok(Box::new(PostgresBlobs::new(PostgresSnapshot::of_now(self)?)))
    }
}

#[cold]
pub(super) fn no_such_container() -> Error {
    executor::error(ErrorKind::ContainerNotFound, "the container was dropped; get a new handle")
}

pub(super) fn bytes_of(id: BlobId) -> Param {
    Param::Bytes(id.0.to_vec())
}

fn of_name(sql: String, name: &str) -> Call {
    let mut params = Params::default();
    params.add(name.into());
    Call { sql, params }
}

pub(super) fn of_number(sql: String, number: i64) -> Call {
    let mut params = Params::default();
    params.add(Param::Number(number));
    Call { sql, params }
}

pub(super) fn of_blob(sql: String, id: BlobId) -> Call {
    let mut params = Params::default();
    params.add(bytes_of(id));
    Call { sql, params }
}
