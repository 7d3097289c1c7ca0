//! Runs the service until it is told to stop.

use std::error::Error;

use tokio::signal;
use web_example::{Config, Server};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let config = Config::read(std::env::args().skip(1), |name| std::env::var(name).ok())?;
    let server = Server::bind(config).await?;
    println!("listening on http://{}", server.address());
    server.run(told_to_stop()).await
}

/// Waits for ctrl-c, or for what service managers send.
async fn told_to_stop() {
    #[cfg(unix)]
    match signal::unix::signal(signal::unix::SignalKind::terminate()) {
        Ok(mut terminate) => tokio::select! {
            _ = signal::ctrl_c() => {}
            _ = terminate.recv() => {}
        },
        Err(error) => eprintln!("SIGTERM will end the program at once: {error}"),
    }
    #[cfg(not(unix))]
    if let Err(error) = signal::ctrl_c().await {
        eprintln!("ctrl-c will end the program at once: {error}");
    }
}
