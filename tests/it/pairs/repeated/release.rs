//! One release of a program: an entity with every kind of row that repeats it, and what each of them gives.

use std::collections::BTreeMap;

use table_core::{ErrorKind, Store};

/// What the rows of one kind say: the number of each entity, by its id; or why they can't be read.
pub(super) type Cell = Result<Vec<(u32, Option<i64>)>, ErrorKind>;

/// What the rows of each kind say.
pub(super) type Cells = BTreeMap<&'static str, Cell>;

/// What a release does with a store.
pub(super) struct Release {
    /// Inserts an entity with this number, and an order that holds a copy of it.
    pub(super) insert: fn(&Store, u32, i64) -> Result<(), ErrorKind>,
    /// Changes the name of an entity, and nothing else.
    pub(super) touch: fn(&Store, u32) -> Result<(), ErrorKind>,
    /// Gives an entity another number.
    pub(super) renumber: fn(&Store, u32, i64) -> Result<(), ErrorKind>,
    /// Reads the rows of each kind.
    pub(super) cells: fn(&Store) -> Cells,
    /// What the checks of both kinds find wrong.
    pub(super) wrong: fn(&Store) -> Vec<String>,
    /// How many rows the repairs of both kinds mend.
    pub(super) repair: fn(&Store) -> u64,
    /// Makes the indexes that are not ready.
    pub(super) rebuild: fn(&Store),
    /// Drops an index and makes it again.
    pub(super) remake: fn(&Store),
    /// Runs the migrations of both kinds; how many entities were written anew.
    pub(super) migrate: fn(&Store) -> u64,
}

/// The kind of an error in place of it.
pub(super) fn kind<T>(result: table_core::Result<T>) -> Result<T, ErrorKind> {
    result.map_err(|error| error.kind())
}

/// A release whose entity has these fields besides its shop, its id and its name.
///
/// `words` stand in `entity`, and `kept` on the struct; `copied` is what the indexes `some` and `away` copy. `part` are fields of a
/// projection, and `held` of the one that an order holds of the entity. `make` gives the fields their values of a number, and
/// `number` a number of the field called `field`. What a kind of row can't have is left out: `shared` is the list and the sum.
macro_rules! release {
    (
        mod $release:ident,
        words($($word:tt)*),
        indexes { $($index:tt)* } $(reads $away_words:ident)?,
        item { $($item:tt)* },
        part { $($part:tt)* },
        held { $($held:tt)* } $(reads $order_words:ident)?,
        order($($order:tt)*),
        make $make:expr,
        field $field:ident,
        number $number:expr
        $(, shared($template:literal, $sum:ident, $element:ty))?
        $(, filtered $filtered:expr, named $named:literal)?
        $(,)?
    ) => {
        #[allow(clippy::duplicated_attributes, reason = "two indexes copy one field")]
        mod $release {
            use std::collections::BTreeMap;

            use table_core::{Entity, EntitySet, Projection, Store};

            use crate::pairs::repeated::release::{AsNumber, Cell, Cells, Release, kind};

            #[derive(Entity, Clone, Debug, PartialEq)]
            #[entity(table = "Stock", kind = "item" $($word)*)]
            #[key(partition = "{shop}", row = "item_{id:06}")]
            #[index(whole, row = "whole_{id:06}")]
            $($index)*
            $(#[index_list(listed, row = $template, of = id)])?
            #[summarized_in(Total)]
            #[copied_into(Order)]
            pub struct Item {
                pub shop: String,
                pub id: u32,
                pub name: String,
                $($item)*
            }

            #[derive(Entity, Clone, Debug, PartialEq)]
            #[entity(table = "Stock", kind = "total")]
            #[key(partition = "{shop}", row = "total")]
            #[summary(of = Item)]
            pub struct Total {
                pub shop: String,
                #[summary(count)]
                pub items: u64,
                $(
                    #[summary(sum = $sum)]
                    pub sum: i64,
                )?
            }

            #[derive(Projection, Clone, Debug, PartialEq)]
            #[projection(of = Item)]
            pub struct Part {
                pub id: u32,
                $($part)*
            }

            #[derive(Projection, Clone, Debug, PartialEq)]
            #[projection(of = Item)]
            pub struct Shown {
                pub name: String,
                $($held)*
            }

            #[derive(Entity, Clone, Debug, PartialEq)]
            #[entity(table = "Stock", kind = "order" $($order)*)]
            #[key(partition = "{shop}", row = "order_{id:06}")]
            pub struct Order {
                pub shop: String,
                pub id: u32,
                #[copy_of(Item, key(shop, id))]
                pub item: Option<Shown>,
            }

            #[derive(EntitySet, Clone, Debug, PartialEq)]
            pub enum All {
                Item(Item),
                Order(Order),
            }

            fn number_of(item: &Item) -> Option<i64> {
                let number: fn(&Item) -> Option<i64> = $number;
                number(item)
            }

            fn sorted(
                rows: impl IntoIterator<Item = table_core::Result<(u32, Option<i64>)>>,
            ) -> Cell {
                let mut rows = kind(rows.into_iter().collect::<table_core::Result<Vec<_>>>())?;
                rows.sort_unstable();
                Ok(rows)
            }

            fn cells(store: &Store) -> Cells {
                let items = store.table::<Item>().unwrap();
                let mut cells: Cells = BTreeMap::new();
                let own = || items.rows().shop("a");
                cells.insert("own", sorted(own().into_iter().map(|row| row.map(|row| (row.id, number_of(&row))))));
                let whole = items.whole().shop("a").into_iter();
                cells.insert("whole", sorted(whole.map(|row| row.map(|row| (row.id, number_of(&row))))));
                let some = items.some().shop("a").into_iter();
                cells.insert("some", sorted(some.map(|row| row.map(|row| (row.id, row.$field.as_number())))));
                $(
                    let _ = stringify!($away_words);
                    let away = items.away().into_iter();
                    cells.insert("away", sorted(away.map(|row| row.map(|row| (row.id, row.$field.as_number())))));
                )?
                let parts = own().select::<Part>().into_iter();
                cells.insert("projection", sorted(parts.map(|row| row.map(|row| (row.id, row.$field.as_number())))));
                let parts = items.whole().shop("a").select::<Part>().into_iter();
                cells.insert("projection of copies", sorted(parts.map(|row| row.map(|row| (row.id, row.$field.as_number())))));
                let snapshot = store.snapshot().unwrap();
                let at = items.at(&snapshot);
                let views = at.rows().shop("a").views();
                cells.insert("view", sorted(views.into_iter().map(|view| {
                    let view = view?;
                    let number = view.$field()?.as_number();
                    Ok((view.id()?, number))
                })));
                let set = store.set::<All>().unwrap();
                let mut found = Vec::new();
                for member in set.partition(Item::partition("a")) {
                    if let All::Item(item) = table_core::Stored::into_inner(member.unwrap()) {
                        found.push(Ok((item.id, number_of(&item))));
                    }
                }
                cells.insert("set", sorted(found));
                $(
                    let one = |row: table_core::Result<table_core::Stored<Item>>| {
                        row.map(|row| (row.id, number_of(&row)))
                    };
                    let named = set.partition(Item::partition("a")).filter(table_core::prop($named).eq(20));
                    let item = |member: table_core::Result<table_core::Stored<All>>| {
                        match table_core::Stored::into_inner(member?) {
                            All::Item(item) => Ok((item.id, number_of(&item))),
                            All::Order(order) => panic!("no item: {order:?}"),
                        }
                    };
                    cells.insert("filter of the set", sorted(named.into_iter().map(item)));
                    cells.insert("filter", sorted(own().filter($filtered).into_iter().map(one)));
                    let whole = items.whole().shop("a").filter($filtered).into_iter();
                    cells.insert("filter of copies", sorted(whole.map(|row| row.map(|row| (row.id, number_of(&row))))));
                )?
                $(
                    let _ = stringify!($order_words);
                    let orders = store.table::<Order>().unwrap();
                    cells.insert("holder", sorted(orders.rows().shop("a").into_iter().map(|order| {
                        let order = order?;
                        let shown = order.item.as_ref().expect("the order shows its item");
                        Ok((order.id, shown.$field.as_number()))
                    })));
                )?
                $(
                    let _ = $template;
                    let mut found = Vec::new();
                    let mut refused = None;
                    for number in 0..100 {
                        let element = <$element>::try_from(number).unwrap();
                        match items.list(Item::listed("a", element)) {
                            Ok(listed) => found.extend(
                                listed.entities().map(|item| item.map(|item| (item.id, Some(number)))),
                            ),
                            Err(error) => refused = Some(error.kind()),
                        }
                    }
                    cells.insert("list", match refused {
                        Some(kind) => Err(kind),
                        None => sorted(found),
                    });
                    let total = store.table::<Total>().unwrap().get(Total::key("a"));
                    let sums = kind(total).map(|total| vec![(0, total.map(|total| total.sum))]);
                    cells.insert("summary", sums);
                )?
                cells
            }

            fn make(id: u32, number: i64) -> Item {
                let make: fn(u32, i64) -> Item = $make;
                make(id, number)
            }

            fn wrong(store: &Store) -> Vec<String> {
                let items = store.table::<Item>().unwrap().check().unwrap();
                let orders = store.table::<Order>().unwrap().check().unwrap();
                assert!(items.is_sound() == items.problems.is_empty());
                let problems = items.problems.iter().chain(&orders.problems);
                problems.map(|problem| format!("{} {}", problem.index, problem.what)).collect()
            }

            /// What the program does.
            pub(super) const RELEASE: Release = Release {
                insert: |store, id, number| {
                    kind(store.table::<Item>().and_then(|items| items.insert(&make(id, number)).map(drop)))?;
                    let order = Order { shop: "a".into(), id, item: None };
                    kind(store.table::<Order>().and_then(|orders| orders.insert(&order).map(drop)))
                },
                touch: |store, id| {
                    let items = kind(store.table::<Item>())?;
                    kind(items.update(Item::key("a", id), |item| item.name.push('!')).map(drop))
                },
                renumber: |store, id, number| {
                    let items = kind(store.table::<Item>())?;
                    let new = make(id, number);
                    kind(items.update(Item::key("a", id), |item| {
                        *item = Item { name: item.name.clone(), ..new.clone() };
                    }).map(drop))
                },
                cells,
                wrong,
                repair: |store| {
                    let items = store.table::<Item>().unwrap().repair().unwrap().run().unwrap().mended;
                    items + store.table::<Order>().unwrap().repair().unwrap().run().unwrap().mended
                },
                rebuild: |store| {
                    store.table::<Item>().unwrap().rebuild().unwrap().run().unwrap();
                },
                remake: |store| {
                    let items = store.table::<Item>().unwrap();
                    items.drop_index("some").unwrap().run().unwrap();
                    items.rebuild().unwrap().run().unwrap();
                },
                migrate: |store| {
                    let items = store.migration::<Item>().unwrap().run().unwrap().changed;
                    let orders = store.migration::<Order>().unwrap().run().unwrap().changed;
                    items + orders
                },
            };
        }
    };
}
pub(super) use release;

/// A field's value as a number.
pub(super) trait AsNumber {
    /// The number.
    fn as_number(&self) -> Option<i64>;
}

impl AsNumber for i32 {
    fn as_number(&self) -> Option<i64> {
        Some((*self).into())
    }
}

impl AsNumber for u32 {
    fn as_number(&self) -> Option<i64> {
        Some((*self).into())
    }
}

impl AsNumber for i64 {
    fn as_number(&self) -> Option<i64> {
        Some(*self)
    }
}

impl AsNumber for Option<i32> {
    fn as_number(&self) -> Option<i64> {
        self.map(Into::into)
    }
}

/// What is kept as JSON.
impl AsNumber for Vec<i64> {
    fn as_number(&self) -> Option<i64> {
        self.first().copied()
    }
}
