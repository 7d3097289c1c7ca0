//! Servers of a test's own, which it may kill.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// A server of the test's own.
pub(crate) struct Server {
    pub(crate) directory: PathBuf,
    port: u16,
}

impl Server {
    /// Starts one; `number` tells it from others of this process.
    pub(crate) fn begin(number: u16) -> Self {
        let server = Self::new(number);
        server.start();
        server
    }

    /// Returns one that is not started.
    pub(crate) fn new(number: u16) -> Self {
        let directory = std::env::temp_dir().join(format!("table-postgres-{}-{number}", std::process::id()));
        let port = 30_000 + u16::try_from(std::process::id() % 3_000).unwrap() * 3 + number;
        Self { directory, port }
    }

    /// Makes it the standby of another, which waits for it from then on.
    pub(crate) fn follow(&self, primary: &Self) {
        // Processes of one that was killed may take a while to end.
        let until = Instant::now() + Duration::from_secs(60);
        while !self.run("standby", &[&primary.port.to_string()]) {
            assert!(Instant::now() < until, "the standby does not start");
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Makes it the primary.
    pub(crate) fn promote(&self) {
        assert!(self.run("promote", &[]), "the standby is not promoted");
    }

    /// Returns the address of both, of which whichever is the primary is used.
    pub(crate) fn address_with(&self, other: &Self) -> String {
        let (one, other) = (self.port, other.port);
        format!(
            "postgres://postgres@127.0.0.1:{one},127.0.0.1:{other}/postgres?target_session_attrs=read-write"
        )
    }

    fn run(&self, verb: &str, more: &[&str]) -> bool {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("server.sh");
        let done = Command::new(script)
            .arg(verb)
            .arg(&self.directory)
            .arg(self.port.to_string())
            .args(more)
            .output()
            .unwrap();
        if !done.status.success() {
            eprintln!("{verb}: {}", String::from_utf8_lossy(&done.stderr));
        }
        done.status.success()
    }

    /// Makes its directory, for files that it is to have.
    pub(crate) fn make_directory(&self) {
        std::fs::create_dir_all(&self.directory).unwrap();
    }

    /// Gives a file to the user that the server runs as, alone.
    pub(crate) fn own(file: &Path) {
        use std::os::unix::fs::PermissionsExt;

        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)).unwrap();
        // Where this is not run by root the server's user is the test's own.
        drop(Command::new("chown").arg("postgres:").arg(file).output());
    }

    /// Starts it with settings of its own.
    pub(crate) fn start_with(&self, settings: &[String]) {
        let settings: Vec<_> = settings.iter().map(|setting| &**setting).collect();
        assert!(self.run("start", &settings), "the server does not start");
    }

    /// Starts it; processes of one that was killed may take a while to end.
    pub(crate) fn start(&self) {
        let until = Instant::now() + Duration::from_secs(60);
        while !self.run("start", &[]) {
            assert!(Instant::now() < until, "the server does not start");
            thread::sleep(Duration::from_millis(50));
        }
    }

    pub(crate) fn address(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// Kills the process that all others are children of.
    pub(crate) fn kill(&self) {
        let file = std::fs::read_to_string(self.directory.join("data/postmaster.pid")).unwrap();
        let process = file.lines().next().unwrap().trim();
        assert!(Command::new("kill").args(["-9", process]).status().unwrap().success());
    }

    /// Kills one of the processes that serve a connection, which ends all others.
    pub(crate) fn kill_a_child(&self, random: u32) -> bool {
        let sql = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
        let found = Command::new("psql").args([&*self.address(), "-Atc", sql]).output().unwrap();
        let found = String::from_utf8(found.stdout).unwrap();
        let all: Vec<_> = found.lines().collect();
        if all.is_empty() {
            return false;
        }
        let process = all[usize::try_from(random).unwrap() % all.len()];
        Command::new("kill").args(["-9", process]).status().unwrap().success()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.run("stop", &[]);
        drop(std::fs::remove_dir_all(&self.directory));
    }
}
