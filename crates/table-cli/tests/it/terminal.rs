//! A terminal that a test drives.

use std::fs::File;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// Opens a terminal: the side of who presses keys and reads the screen, and the side of the program.
pub(crate) fn open() -> (File, File) {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let name = ptsname(&controller, Vec::new()).unwrap();
    let user = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    (File::from(controller), user)
}
