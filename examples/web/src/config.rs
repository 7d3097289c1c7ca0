//! Where the service listens, where its store is, and how long it is patient.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// What the service is started with.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where it listens; port 0 is any that is free.
    pub address: SocketAddr,
    /// The store's directory, made if there is none.
    pub directory: PathBuf,
    /// How long a client may take to read a department, which holds a snapshot meanwhile.
    pub held_for: Duration,
    /// How long answers may take that are under way when it is shut down.
    pub grace: Duration,
}

impl Config {
    /// Returns what is configured when nothing is: this machine alone, and the current directory.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            address: SocketAddr::from(([127, 0, 0, 1], 8080)),
            directory: directory.into(),
            held_for: Duration::from_secs(60),
            grace: Duration::from_secs(10),
        }
    }

    /// Reads the arguments `--address` and `--directory`. Where one is missing, `variable` is asked for the environment's
    /// `WEB_ADDRESS` and `WEB_DIRECTORY`.
    pub fn read(
        arguments: impl IntoIterator<Item = String>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let (mut address, mut directory) = (variable("WEB_ADDRESS"), variable("WEB_DIRECTORY"));
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let option = match argument.as_str() {
                "--address" => &mut address,
                "--directory" => &mut directory,
                _ => {
                    let known = "`--address ADDRESS:PORT`, `--directory DIRECTORY`";
                    return Err(format!("`{argument}` is no argument: there are {known}"));
                }
            };
            *option = Some(arguments.next().ok_or(format!("`{argument}` is without its value"))?);
        }
        let mut config = Self::new(directory.as_deref().unwrap_or("company.tables"));
        if let Some(address) = address {
            let wrong = |_| format!("`{address}` is no address and port, such as `127.0.0.1:8080`");
            config.address = address.parse().map_err(wrong)?;
        }
        Ok(config)
    }
}
