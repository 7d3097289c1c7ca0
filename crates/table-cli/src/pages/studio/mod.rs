//! A store in a browser, on this machine alone.
//!
//! [`web`] speaks HTTP and refuses requests without the token. [`views`] are the pages, made by calls that block, on threads of
//! their own. [`rows`] are what pages show of a table: rows with their copies, and what a query reads.

mod rows;
mod views;
mod web;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use table_core::Tables;

use self::views::Studio;
use self::web::{Gate, serve};

/// A page's server that listens and does not answer yet.
pub(crate) struct Listening {
    listener: TcpListener,
    gate: Gate,
    studio: Studio,
}

impl Listening {
    /// Listens on this machine's own address; at a port of the system's choice if it is zero.
    pub(crate) fn at(port: u16, tables: Tables, may_write: bool) -> io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        listener.set_nonblocking(true)?;
        let gate = Gate::new(listener.local_addr()?.port())?;
        let studio = Studio::new(tables, may_write, gate.form_token());
        Ok(Self { listener, gate, studio })
    }

    /// Returns the address that lets a browser in.
    pub(crate) fn address(&self) -> String {
        self.gate.address()
    }

    /// Answers until a signal says to stop.
    pub(crate) fn serve(self) -> io::Result<()> {
        serve(self.listener, self.gate, self.studio)
    }
}
