//! One entity as releases declare it, and with each sort of index.

/// An entity with what is said of it and of its field `v`, in a module of its own.
macro_rules! plain {
    ($name:ident, { $($said:tt)* }, { $($of_v:tt)* }, $($more:item)*) => {
        pub(crate) mod $name {
            #[derive(table_core::Entity)]
            #[entity(table = "Plain", kind = "plain")]
            #[key(partition = "{p}", row = "{id:010}")]
            $($said)*
            pub(crate) struct Plain {
                pub(crate) p: String,
                pub(crate) id: u32,
                $($of_v)*
                pub(crate) v: u64,
            }

            impl Plain {
                pub(crate) fn new(id: u32) -> Self {
                    Self { p: "p".to_owned(), id, v: u64::from(id % 10) }
                }
            }

            $($more)*
        }
    };
}

plain!(former, {}, {},);
plain!(indexed, { #[index(by_v, row = "v_{v:020}_{id:010}", copy = keys)] }, {},);
plain!(
    eventual,
    { #[index(by_v, table = "ByV", partition = "{v:03}", row = "{p}_{id:010}", copy = keys, eventual)] },
    {},
);
plain!(
    summed,
    { #[summarized_in(Total)] },
    {},
    #[derive(table_core::Entity)]
    #[entity(table = "Plain", kind = "total")]
    #[key(partition = "{p}", row = "total_{v:03}")]
    #[summary(of = Plain)]
    pub(crate) struct Total {
        pub(crate) p: String,
        pub(crate) v: u64,
        #[summary(count)]
        pub(crate) plains: u64,
    }
);
#[cfg(feature = "encrypt")]
plain!(sealed, {}, { #[encrypt] },);

/// The first, frozen, and what it becomes.
pub(crate) mod versioned {
    use table_core::Entity;

    #[derive(Entity)]
    #[entity(kind = "plain", version = 1, former)]
    #[key(partition = "{p}", row = "{id:010}")]
    struct Former {
        p: String,
        id: u32,
        v: u64,
    }

    #[derive(Entity)]
    #[entity(table = "Plain", kind = "plain", version = 2, from = Former)]
    #[key(partition = "{p}", row = "{id:010}")]
    pub(crate) struct Plain {
        pub(crate) p: String,
        pub(crate) id: u32,
        pub(crate) v: String,
    }

    impl From<Former> for Plain {
        fn from(former: Former) -> Self {
            let Former { p, id, v } = former;
            Self { p, id, v: v.to_string() }
        }
    }

    impl Plain {
        pub(crate) fn new(id: u32) -> Self {
            Self { p: "p".to_owned(), id, v: (id % 10).to_string() }
        }
    }
}
