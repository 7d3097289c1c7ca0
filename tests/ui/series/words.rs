use table_core::{Entity, Projection, Properties};

#[derive(Properties)]
struct Words {
    #[series]
    #[flatten]
    a: [i64; 3],
    #[series]
    #[property(json)]
    b: [i64; 3],
    #[series]
    #[property(skip)]
    c: [i64; 3],
    #[series]
    #[property(was = "Old")]
    d: [i64; 3],
    #[series]
    #[encrypt]
    e: [i64; 3],
    #[series(slot = 3)]
    f: [i64; 3],
    #[series]
    #[series(width = 2)]
    g: [i64; 3],
    #[series(with = 2)]
    h: [i64; 3],
    #[series(width = "3")]
    i: [i64; 3],
}

#[derive(Properties)]
struct Width {
    #[series(width = 0)]
    cpu: [i64; 3],
}

#[derive(Entity)]
#[entity(table = "Load", kind = "day")]
#[key(partition = "{host}", row = "day_{cpu}")]
#[index(by_load, row = "load_{host}", copy(load))]
struct Key {
    host: String,
    #[series]
    cpu: [i64; 3],
    #[series]
    load: [i64; 3],
}

#[derive(Projection)]
#[projection(of = Day)]
struct Both {
    #[series(slot = 1, from = 2)]
    cpu: [i64; 2],
    #[series(width = 2)]
    load: [i64; 2],
}

fn main() {}
