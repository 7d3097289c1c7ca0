//! Processes that send messages and deal with them.

use std::time::Duration;

use integration_tests::queued::{Done, dealt_with, queue};
use table_core::{ErrorKind, Store};

use crate::say;

/// `queue-work STORE FIRST`: sends numbers from this one on and says which were sent, and deals with whatever is there,
/// until the process is killed. Says `twice N` if something was done before.
pub fn work(arguments: &[&str]) {
    let [path, first] = arguments else { panic!("arguments") };
    let store = Store::open(path).unwrap();
    let first: u64 = first.parse().unwrap();
    let (numbers, done) = (queue(&store), store.table::<Done>().unwrap());
    let worker = numbers
        .worker()
        .threads(3)
        .visibility(Duration::from_millis(60))
        .run(move |number| {
            let dealt = dealt_with(&done, number);
            if let Err(error) = &dealt
                && error.kind() == ErrorKind::EntityAlreadyExists
            {
                say(format!("twice {}", **number));
            }
            dealt
        })
        .unwrap();
    say("ready");
    for number in first.. {
        if number % 3 == 0 {
            // With a change, which also says that it was sent.
            let table = store.table::<Done>().unwrap();
            let sent = Done { part: "sent".into(), number };
            table.egt(Done::partition("sent")).insert(&sent).send(&numbers, &number).commit().unwrap();
        } else {
            numbers.send(&number).unwrap();
        }
        say(format!("sent {number}"));
    }
    drop(worker);
}
