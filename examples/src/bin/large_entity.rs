//! Large entities: a photo is too large for a property, so the row refers to a blob.
//!
//! The guide keeps such values in a blob store beside the tables, and the two together by a queue. Here both are in one
//! store: the change of an entity and of the blobs that it holds is one transaction.

use std::io::{Read, Write};

use examples::{Scratch, draw};
use table_core::blob::Blob;
use table_core::{Entity, ErrorKind, Query, Store};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
struct Employee {
    department: String,
    id: u32,
    email: String,
    photo: Blob,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = examples::stdout();
    let scratch = Scratch::new("large_entity");
    let store = Store::open(scratch.path())?;
    let staff = store.table::<Employee>()?;

    writeln!(out, "Three megabytes, from wherever they come, in constant memory:\n")?;
    let photo = store.upload("image/jpeg", std::io::repeat(7).take(3_000_000))?;
    let jun = Employee { department: "Sales".into(), id: 223, email: "jun@contoso.com".into(), photo };
    staff.insert(&jun)?;
    draw(&mut out, staff.dynamic(), &Query::new().select(["EntityType", "Id", "Email"]))?;

    // The copy in the index refers to the same blob.
    let found = staff.get(Employee::by_email("Sales", "jun@contoso.com"))?.ok_or("there")?;
    assert_eq!(found.photo.len(), 3_000_000);
    let mut reader = found.photo.open(&store)?;
    let mut first = [0; 4];
    reader.read_exact(&mut first)?;
    assert_eq!((first, reader.content_type()), ([7; 4], "image/jpeg"));
    writeln!(out, "\n{} has {} bytes of {}\n", found.email, reader.len(), reader.content_type())?;

    // Another photo takes its place, and the former one goes with its last reference.
    let newer = store.upload("image/png", &b"a smaller one"[..])?;
    staff.update(Employee::key("Sales", 223), |employee| employee.photo = newer)?;
    let stats = store.stats()?.blobs;
    assert_eq!((stats.blobs, stats.bytes), (1, 13));
    writeln!(out, "Changed: the store holds {} blob of {} bytes.", stats.blobs, stats.bytes)?;

    // What is gone is told, and never read as something else. The reader has its own moment.
    assert_eq!(photo.get(&store).map(drop).map_err(|error| error.kind()), Err(ErrorKind::BlobGone));
    assert_eq!(reader.read(&mut first)?, 4);

    // An entity that would hold what is gone is refused whole.
    let refused = staff.insert(&Employee { id: 224, email: "ann@contoso.com".into(), ..jun });
    let error = refused.err().ok_or("refused")?;
    assert_eq!(error.kind(), ErrorKind::BlobGone);
    writeln!(out, "Refused: {error}")?;

    staff.delete(Employee::key("Sales", 223))?;
    assert_eq!(store.stats()?.blobs.blobs, 0);
    writeln!(out, "Deleted: nothing is left.")?;
    Ok(())
}
