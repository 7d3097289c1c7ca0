//! The processes of `it/power` and `it/faults`: what is recorded, and what looks at images. `power-child ROLE ARGUMENTS`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails panics")]

fn main() {
    #[cfg(target_os = "linux")]
    linux::main();
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io::Write;
    use std::path::Path;
    use std::time::Duration;

    use integration_tests::Scratch;
    use integration_tests::power::images::Images;
    use integration_tests::power::{Work, log, sealed};

    pub(super) fn main() {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        // A child that is forgotten, or hangs, ends by itself.
        let patience = std::env::var("POWER_CHILD_SECONDS").map_or(300, |text| text.parse().unwrap());
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_secs(patience));
            eprintln!("the child hangs");
            std::process::abort();
        });
        match *arguments {
            ["prepare", work, root] => Work::parse(work).expect("work").prepare(Path::new(root)),
            ["record", work, root, seed] => {
                Work::parse(work).expect("work").run(Path::new(root), seed.parse().unwrap());
            }
            ["verify", work, root, seed, count, first, end, lies, notes] => {
                let work = Work::parse(work).expect("work");
                let (notes, seed) = (log::read(Path::new(notes)).unwrap(), seed.parse().unwrap());
                let images = Images {
                    notes: &notes,
                    root: Path::new(root),
                    seed,
                    count: count.parse().unwrap(),
                    ignores_flushes: lies == "lies",
                };
                verify(work, &images, first.parse().unwrap()..end.parse().unwrap());
            }
            ["look", work, root, seed, notes] => {
                let notes = log::read(Path::new(notes)).unwrap();
                let acks: Vec<String> = notes
                    .into_iter()
                    .filter_map(|note| if let log::Note::Ack(line) = note { Some(line) } else { None })
                    .collect();
                match Work::parse(work).expect("work").verify(Path::new(root), &acks, seed.parse().unwrap()) {
                    Ok(lost) => say(format_args!("lost {lost}")),
                    Err(text) => say(format_args!("bad {text}")),
                }
            }
            ["open", root] => {
                say(open(Path::new(root))
                    .map_or_else(|error| format!("{:?}", error.kind()), |()| "Ok".into()))
            }
            _ => panic!("no such role: {arguments:?}"),
        }
    }

    /// Opens a store with keys, and uses it.
    fn open(root: &Path) -> table_core::Result<()> {
        let store = sealed::open(root, table_core::Durability::Durable)?;
        drop(store.check()?);
        sealed::put(&store, 20, 1)
    }

    /// Says `at NUMBER` before each image, then `lost NUMBER` or `bad TEXT`.
    fn verify(work: Work, images: &Images<'_>, numbers: std::ops::Range<u64>) {
        let scratch = Scratch::new();
        let look = |number, image: &Path, acks: &[String]| {
            say(format_args!("at {number}"));
            match work.verify(image, acks, images.seed) {
                Ok(lost) => say(format_args!("lost {lost}")),
                Err(text) => say(format_args!("bad {}", text.replace('\n', " "))),
            }
        };
        images.each(numbers, scratch.path(), look).unwrap();
        say("end");
    }

    fn say(line: impl std::fmt::Display) {
        let mut output = std::io::stdout().lock();
        writeln!(output, "{line}").and_then(|()| output.flush()).expect("the parent listens");
    }
}
