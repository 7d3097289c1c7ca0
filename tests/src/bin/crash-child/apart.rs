//! A program that does what lines on its input say, beside another one.

use integration_tests::apart::releases::Releases;
use integration_tests::apart::versions::Versions;
use integration_tests::apart::{MEANWHILE, Program};
use integration_tests::relaxed;

use super::{hear, say};

/// Does what each line says until there are no more: `apart PATH PROGRAM`.
pub(super) fn work(arguments: &[&str]) {
    let [path, program] = arguments else { panic!("apart PATH PROGRAM") };
    let store = relaxed().open(path).unwrap();
    let mut program: Box<dyn Program> = match *program {
        "releases" => Box::new(Releases::new(store)),
        "versions" => Box::new(Versions::new(store)),
        program => panic!("no such program: {program}"),
    };
    say("ready");
    while let Some(line) = hear() {
        say(program.act(&line, &mut || {
            say(MEANWHILE);
            assert_eq!(hear().as_deref(), Some(MEANWHILE));
        }));
    }
}
