//! What a layout does not say is refused by the line that is in the way, and nothing is written.

use std::time::{Duration, UNIX_EPOCH};

use integration_tests::{Scratch, assert_sound};
use table_core::schema::{Property, PropertyValue, ValueError};
use table_core::{DynamicEntity, EdmType, Entity, ErrorKind, IfMatch, Projection, Store, Tables, ValueRef};

use super::seen;

/// Makes sure that each way of writing this entity, and the one that is there, is refused by a line of its layout.
fn assert_refused(store: &Tables, table: &str, new: &DynamicEntity, there: (&str, &str), line: &str) {
    let before = seen(store);
    let table = store.dynamic_table(table).unwrap();
    let change = DynamicEntity::new(there.0, there.1);
    for (what, error) in [
        ("insert", table.insert(new).unwrap_err()),
        ("put", table.put(new).unwrap_err()),
        ("insert or merge", table.insert_or_merge(new).unwrap_err()),
        ("batch", table.batch(new.partition_key()).insert(new.clone()).commit().unwrap_err()),
        ("merge", table.merge(&change, IfMatch::Any).unwrap_err()),
        ("delete", table.delete(there.0, there.1).unwrap_err()),
    ] {
        assert_eq!(error.kind(), ErrorKind::DeclaredKind, "{what}: {error}");
        assert!(error.to_string().contains(line), "{what}: {error}\n{line}");
        assert!(error.row_key().is_some(), "{what}: {error:?}");
        assert_eq!(seen(store), before, "{what}");
    }
}

fn store() -> Store {
    Store::temporary().unwrap()
}

/// An index in which only some have a copy.
mod when {
    use super::{DynamicEntity, Entity, assert_refused, store};

    #[derive(Entity)]
    #[entity(table = "Seats", kind = "seat")]
    #[key(partition = "{train}", row = "seat_{number:02}")]
    #[index(by_price, row = "price_{price:03}_{number:02}", when = Seat::is_for_sale, copy = keys)]
    struct Seat {
        train: String,
        number: u8,
        price: u32,
        for_sale: bool,
    }

    impl Seat {
        fn is_for_sale(&self) -> bool {
            self.for_sale
        }
    }

    #[test]
    fn an_index_of_some_entities_is_in_the_way() {
        let store = store();
        let seat = Seat { train: "night".into(), number: 1, price: 5, for_sale: true };
        store.table::<Seat>().unwrap().insert(&seat).unwrap();
        let new = DynamicEntity::new("night", "seat_02")
            .with("EntityType", "seat")
            .with("Price", 5_i64)
            .with("ForSale", true);
        let line = "`index by_price row \"price_\" Price:u32:\"03\" \"_\" Number:u8:\"02\" when copy keys`: whether an entity has a copy there only a \
                    function of its struct says";
        assert_refused(&store, "Seats", &new, ("night", "seat_01"), line);
    }
}

/// A count of some, an index by each element, a signature.
mod others {
    use std::sync::Arc;

    use table_core::crypt::MemoryKeys;

    use super::{DynamicEntity, Entity, Store, assert_refused, store};

    #[derive(Entity)]
    #[entity(table = "Orders", kind = "order")]
    #[key(partition = "{region}", row = "{number:04}")]
    #[summarized_in(Total)]
    struct Order {
        region: String,
        number: u32,
        cents: i64,
    }

    fn is_large(order: &Order) -> bool {
        order.cents > 100
    }

    #[derive(Entity)]
    #[entity(table = "Orders", kind = "total")]
    #[key(partition = "{region}", row = "total")]
    #[summary(of = Order)]
    struct Total {
        region: String,
        #[summary(count)]
        orders: u64,
        #[summary(count, when = is_large)]
        large: u64,
    }

    #[test]
    fn a_count_of_some_entities_is_in_the_way() {
        let store = store();
        store.table::<Order>().unwrap().insert(&Order { region: "n".into(), number: 1, cents: 500 }).unwrap();
        let new = DynamicEntity::new("n", "0002").with("EntityType", "order").with("Cents", 5_i64);
        assert_refused(
            &store,
            "Orders",
            &new,
            ("n", "0001"),
            "sums Orders:count Large:count(when)`: whether an entity counts",
        );
        // The sums themselves are nobody's.
        let total = DynamicEntity::new("n", "total").with("EntityType", "total").with("Large", 5_i64);
        assert_refused(&store, "Orders", &total, ("n", "total"), "the row is of the summary `total`");
    }

    #[derive(Entity)]
    #[entity(table = "Films", kind = "film")]
    #[key(partition = "{studio}", row = "film_{title}")]
    #[index(by_tag, row = "tag_{tags[]}_{title}", copy = keys, as = tag)]
    struct Film {
        studio: String,
        title: String,
        #[property(json)]
        tags: Vec<String>,
    }

    #[test]
    fn an_index_by_elements_is_in_the_way() {
        let store = store();
        let film = Film { studio: "s".into(), title: "one".into(), tags: vec!["a".into()] };
        store.table::<Film>().unwrap().insert(&film).unwrap();
        let new = DynamicEntity::new("s", "film_two").with("EntityType", "film").with("Tags", "[\"a\"]");
        assert_refused(
            &store,
            "Films",
            &new,
            ("s", "film_one"),
            "`index by_tag row \"tag_\" Tags[]:each(text) \"_\" Title:text copy keys`",
        );
    }

    #[derive(Entity)]
    #[entity(table = "Accounts", kind = "account", signed)]
    #[key(partition = "{bank}", row = "{id:06}")]
    struct Account {
        bank: String,
        id: u32,
        balance: i64,
    }

    #[test]
    fn a_signature_is_in_the_way() {
        let dir = tempfile::tempdir().unwrap();
        let options = Store::options().encryption(Arc::new(MemoryKeys::new().unwrap()));
        let store = options.open(dir.path().join("s")).unwrap();
        store.table::<Account>().unwrap().insert(&Account { bank: "b".into(), id: 1, balance: 5 }).unwrap();
        let new = DynamicEntity::new("b", "000002").with("EntityType", "account").with("Balance", 5_i64);
        assert_refused(
            &store,
            "Accounts",
            &new,
            ("b", "000001"),
            "`signed`: nothing but its struct signs a row",
        );
    }
}

/// What one entity holds of another.
mod copied {
    use super::{DynamicEntity, Entity, Projection, assert_refused, store};

    #[derive(Entity, Clone)]
    #[entity(table = "Company", kind = "team")]
    #[key(partition = "{name}", row = "team")]
    #[copied_into(Member)]
    struct Team {
        name: String,
        lead: String,
    }

    #[derive(Projection, Clone, Debug, PartialEq)]
    #[projection(of = Team)]
    struct Lead {
        lead: String,
    }

    #[derive(Entity)]
    #[entity(table = "Company", kind = "member")]
    #[key(partition = "{team}", row = "member_{id:04}")]
    struct Member {
        team: String,
        id: u32,
        #[copy_of(Team, key(team))]
        of: Option<Lead>,
    }

    #[test]
    fn what_is_held_of_others_is_in_the_way_on_both_sides() {
        let store = store();
        store.table::<Team>().unwrap().insert(&Team { name: "red".into(), lead: "Jun".into() }).unwrap();
        store.table::<Member>().unwrap().insert(&Member { team: "red".into(), id: 1, of: None }).unwrap();
        let new = DynamicEntity::new("blue", "team").with("EntityType", "team").with("Lead", "Cao");
        let line = "`holder member`: only the struct finds the entities that hold copies of it";
        assert_refused(&store, "Company", &new, ("red", "team"), line);
        let new = DynamicEntity::new("red", "member_0002").with("EntityType", "member");
        let line = "`copied Of by Team`: what it holds of another entity only the struct looks up";
        assert_refused(&store, "Company", &new, ("red", "member_0001"), line);
    }
}

/// A value that only a type of the user's reads.
mod of_a_type {
    use super::{
        DynamicEntity, EdmType, Entity, ErrorKind, IfMatch, Property, PropertyValue, ValueError, ValueRef,
        assert_sound, seen, store,
    };

    #[derive(Debug, PartialEq)]
    struct Code(String);

    impl Property for Code {
        const EDM: EdmType = EdmType::String;

        fn to_property(&self) -> Result<PropertyValue<'_>, ValueError> {
            self.0.to_property()
        }

        fn from_property(value: Option<ValueRef<'_>>) -> Result<Self, ValueError> {
            let text = String::from_property(value)?;
            if text.len() == 2 { Ok(Self(text)) } else { Err(ValueError::invalid(Self::EDM, "no code")) }
        }
    }

    impl table_core::schema::KeyPart for Code {
        const KEY: table_core::schema::KeyType = String::KEY;
    }

    #[derive(Entity, Debug, PartialEq)]
    #[entity(table = "Goods", kind = "good")]
    #[key(partition = "{shelf}", row = "{id:04}")]
    #[index(by_code, row = "code_{code}_{id:04}", copy = keys)]
    struct Good {
        shelf: String,
        id: u32,
        code: Code,
        amount: u32,
    }

    #[test]
    fn only_its_own_value_is_in_the_way() {
        let store = store();
        let goods = store.table::<Good>().unwrap();
        for id in 1..3 {
            goods.insert(&Good { shelf: "a".into(), id, code: Code("xy".into()), amount: 1 }).unwrap();
        }
        let table = store.dynamic_table("Goods").unwrap();
        let before = seen(&store);
        let new =
            DynamicEntity::new("a", "0003").with("EntityType", "good").with("Code", "xyz").with("Amount", 1);
        for error in [
            table.insert(&new).unwrap_err(),
            table.merge(&DynamicEntity::new("a", "0001").with("Code", "ab"), IfMatch::Any).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::DeclaredKind, "{error}");
            assert!(
                error.to_string().contains("`property Code String`: which values it takes only"),
                "{error}"
            );
            assert_eq!(seen(&store), before);
        }
        // What does not touch it goes on, and its copies come and go.
        table.merge(&DynamicEntity::new("a", "0001").with("Amount", 2), IfMatch::Any).unwrap();
        table.delete("a", "0002").unwrap();
        assert_eq!(goods.get(Good::key("a", 1)).unwrap().unwrap().amount, 2);
        assert_eq!(seen(&store).len(), 2);
        assert_sound(&store);
    }
}

/// A property that is absent, and something stands for it.
mod absent {
    use super::{DynamicEntity, Entity, ErrorKind, IfMatch, seen, store};

    #[derive(Entity)]
    #[entity(table = "Posts", kind = "post")]
    #[key(partition = "{blog}", row = "{id:04}")]
    #[index(by_rank, row = "rank_{rank:03}_{id:04}", copy = keys)]
    #[index(by_note, row = "note_{note}_{id:04}", copy = keys)]
    struct Post {
        blog: String,
        id: u32,
        #[property(default = 5)]
        rank: u8,
        note: Option<String>,
    }

    #[test]
    fn an_absent_property_that_a_key_prints_is_in_the_way() {
        let store = store();
        store
            .table::<Post>()
            .unwrap()
            .insert(&Post { blog: "b".into(), id: 1, rank: 1, note: None })
            .unwrap();
        let table = store.dynamic_table("Posts").unwrap();
        let new = || DynamicEntity::new("b", "0002").with("EntityType", "post");
        let before = seen(&store);
        let error = table.insert(&new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DeclaredKind, "{error}");
        let line = "`index by_rank row \"rank_\" Rank:u8:\"03\" \"_\" Id:u32:\"04\" copy keys`: a property that it takes is absent";
        assert!(error.to_string().contains(line), "{error}");
        assert_eq!(seen(&store), before);
        // An `Option` that is absent is nothing, and has no copy.
        table.insert(&new().with("Rank", 7)).unwrap();
        assert_eq!(seen(&store).len(), before.len() + 2);
        table.merge(&DynamicEntity::new("b", "0002").with("Note", "n"), IfMatch::Any).unwrap();
        assert_eq!(seen(&store).len(), before.len() + 3);
        // It was written before the property had come: where its copy lies is not known.
        let raw = table.raw();
        raw.insert(&DynamicEntity::new("b", "0003").with("EntityType", "post")).unwrap();
        assert_eq!(table.delete("b", "0003").unwrap_err().kind(), ErrorKind::DeclaredKind);
    }
}

/// Versions, and the tables of periods.
mod versions {
    use super::{
        Duration, DynamicEntity, Entity, ErrorKind, IfMatch, Scratch, UNIX_EPOCH, assert_refused, seen,
    };

    #[derive(Entity)]
    #[entity(table = "Rooms", kind = "room")]
    #[key(partition = "{house}", row = "{number:04}")]
    struct First {
        house: String,
        number: u32,
        beds: u32,
    }

    #[derive(Entity)]
    #[entity(table = "Rooms", kind = "room", version = 2, from = RoomV1)]
    #[key(partition = "{house}", row = "{number:04}")]
    struct Room {
        house: String,
        number: u32,
        places: i64,
    }

    #[derive(Entity)]
    #[entity(kind = "room", version = 1, former)]
    #[key(partition = "{house}", row = "{number:04}")]
    struct RoomV1 {
        house: String,
        number: u32,
        beds: u32,
    }

    impl From<RoomV1> for Room {
        fn from(first: RoomV1) -> Self {
            Self { house: first.house, number: first.number, places: first.beds.into() }
        }
    }

    #[test]
    fn a_migration_is_in_the_way_until_it_is_through() {
        let scratch = Scratch::new();
        let store = scratch.store();
        for number in 1..4 {
            store.table::<First>().unwrap().insert(&First { house: "h".into(), number, beds: 2 }).unwrap();
        }
        let table = store.dynamic_table("Rooms").unwrap();
        // Rows are of the first version as yet, and so is the layout.
        let old = |number: u32| {
            DynamicEntity::new("h", format!("{number:04}")).with("EntityType", "room").with("Beds", 2)
        };
        let new = |number: u32| {
            DynamicEntity::new("h", format!("{number:04}")).with("EntityType", "room@2").with("Places", 2)
        };
        table.insert(&old(4)).unwrap();
        let error = table.insert(&new(5)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DeclaredKind, "{error}");
        assert!(error.to_string().contains("`version 1`: rows of another version"), "{error}");
        store.migration::<Room>().unwrap().run().unwrap();
        table.insert(&new(5)).unwrap();
        table.merge(&DynamicEntity::new("h", "0001").with("Places", 9), IfMatch::Any).unwrap();
        let before = seen(&store);
        let error = table.insert(&old(6)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DeclaredKind, "{error}");
        assert!(error.to_string().contains("`version 2`: rows of another version"), "{error}");
        assert_eq!(seen(&store), before);
        let rooms = store.table::<Room>().unwrap();
        assert_eq!(rooms.get(Room::key("h", 1)).unwrap().unwrap().places, 9);
        assert_eq!(rooms.all().count().unwrap(), 5);
    }

    #[derive(Entity)]
    #[entity(table = "Logins{at:%Y%m}", kind = "login")]
    #[key(partition = "{user}", row = "{at:inverted}")]
    struct Login {
        user: String,
        at: std::time::SystemTime,
        host: String,
    }

    #[test]
    fn the_tables_of_periods_are_in_the_way() {
        let scratch = Scratch::new();
        let store = scratch.store();
        let at = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let login = Login { user: "jun".into(), at, host: "h".into() };
        store.periods::<Login>().unwrap().insert(&login).unwrap();
        let table = store.dynamic_table("Logins202311").unwrap();
        let row = table.query(&table_core::Query::new()).unwrap().next().unwrap().unwrap();
        let new = DynamicEntity::new("ann", row.row_key()).with("EntityType", "login").with("Host", "h");
        let line = "`periods Logins{at:%Y%m}`: only the struct says in which of these tables an entity lies";
        assert_refused(&store, "Logins202311", &new, ("jun", row.row_key()), line);
    }
}
