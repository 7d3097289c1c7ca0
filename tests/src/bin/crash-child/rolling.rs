//! A program of one of two releases, which writes until it is told to stop.

use integration_tests::random::Random;
use integration_tests::{relaxed, rolling};

use super::{hear, say};

/// Says what it has written, and what it was refused: `rolling PATH RELEASE THREAD`.
pub(super) fn work(arguments: &[&str]) {
    let [path, release, thread] = arguments else { panic!("rolling PATH RELEASE THREAD") };
    let (release, thread): (u32, u32) = (release.parse().unwrap(), thread.parse().unwrap());
    let store = relaxed().open(path).unwrap();
    let mut random = Random::new(u64::from(release * 10 + thread));
    say("ready");
    // It is told how often to write, again and again.
    while let Some(times) = hear() {
        for _ in 0..times.parse().unwrap() {
            match rolling::write(&store, release, thread, &mut random) {
                (id, Ok((email, age, phone))) => {
                    say(format_args!("{id} {email} {age} {}", phone.unwrap_or_default()))
                }
                (_, Err(error)) if rolling::is_outdated(&error) => say(format_args!("refused {error}")),
                (id, Err(error)) => panic!("{id}: {error}"),
            }
        }
        say("done");
    }
}
