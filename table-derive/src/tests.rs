//! Declarations read as a whole, without a compiler: what is accepted, and that nothing makes the macro panic.

use syn::DeriveInput;

use crate::ctxt::Ctxt;
use crate::model::{Entity, EntitySet, KeyPart, KeyPartShape, Projection, Properties, Storage};
use crate::{check, model};

fn input(text: &str) -> DeriveInput {
    syn::parse_str(text).unwrap()
}

/// Returns what is wrong with what was read.
fn errors(cx: Ctxt) -> Vec<String> {
    cx.check().err().into_iter().flatten().map(|error| error.to_string()).collect()
}

/// Reads and checks an entity that is right.
fn entity(input: &DeriveInput) -> Entity<'_> {
    let cx = Ctxt::default();
    let entity = Entity::read(&cx, input).unwrap();
    check::entity(&cx, &entity);
    assert_eq!(errors(cx), [""; 0]);
    entity
}

const MOVIE: &str = r#"
    #[entity(table = "Movies", kind = "movie", version = 3, rename_all = "camelCase", allow(hot_partition))]
    #[entity(crate = crate::tables, patch_name = change, picture = false, types(patch, by_actor = Played, query = Asked))]
    #[key(partition = "{at:%Y-%m}", name = find, partition_name = month)]
    #[key(row = "{{m}}_{id:06:inverted}!{title:escaped}")]
    #[index(by_actor, row = "actor_{actors[]}_{genres[]}_{id}", as(actor, genre), copy = keys, when = Self::known)]
    #[index(by_title, row = "title_{title:lower}_{id:inverted}", copy(at, r#type), name = titled)]
    #[index(by_maker, row = "{maker}_{at:ticks}_{at:inverted}_{delta:offset}", unique, copy = all,)]
    #[index(by_genre, row = "genre_{genres[]}_{id}_{r#type}", as = genre)]
    struct Movie {
        at: Ticks,
        id: u32,
        title: String,
        delta: i32,
        r#type: String,
        #[property(rename = "Cast", json)]
        actors: Vec<String>,
        #[property(default)]
        genres: Vec<String>,
        #[property(skip)]
        seen: bool,
        #[property(was = "Producer", default = nobody())]
        maker: Option<String>,
        #[flatten]
        rights: Rights,
    }
"#;

#[test]
fn every_word_is_understood() {
    let input = input(&MOVIE.replace("{r#type}", "{type}"));
    let movie = entity(&input);
    assert_eq!(
        (movie.table.value.as_str(), movie.kind.value.as_str(), movie.version),
        ("Movies", "movie", 3)
    );
    assert_eq!(movie.krate.import().to_string(), "use crate :: tables :: __private as __table ;");
    let names: Vec<&str> = movie.fields.iter().map(|field| field.property.value.as_str()).collect();
    assert_eq!(names[..7], ["at", "id", "title", "delta", "type", "Cast", "genres"]);
    let storage: Vec<Storage> = movie.fields.iter().map(|field| field.storage).collect();
    assert_eq!(storage[4..6], [Storage::Value, Storage::Json]);
    assert_eq!(storage[7..], [Storage::Skipped, Storage::Value, Storage::Flattened]);
    assert!(!movie.picture);
    assert!(movie.fields[6].default.is_some() && movie.fields[5].renamed);
    let maker = &movie.fields[8];
    assert_eq!(maker.was.as_ref().map(|was| was.value.as_str()), Some("Producer"));
    assert!(
        matches!(&maker.default, Some(crate::attr::DefaultWord::Is(value)) if value.to_string() == "nobody ()")
    );
    assert_eq!(movie.key_arguments(), [0, 1, 2]);
    // The month does not give the time back; the maker's index does.
    assert!(!movie.gives_back(&movie.key.row, 0) && movie.gives_back(&movie.indexes[2].row, 0));
    assert_eq!(movie.index_arguments(&movie.indexes[0]), [0, 5, 6, 1]);
    assert!(matches!(&movie.indexes[1].copies, model::Copies::Some(fields) if fields.len() == 2));
    assert_eq!(movie.indexes[1].function().to_string(), "titled");
    assert!(movie.indexes[0].when.is_some() && movie.indexes[2].unique.is_some());
    let words = ["patch", "query", "view", "by_actor", "by_title"];
    let types = words
        .map(|word| (movie.types.asked(word).is_some(), movie.types.given(word).map(ToString::to_string)));
    let [patch, query, view, by_actor, by_title] = types;
    assert_eq!((patch, view, by_title), ((true, None), (false, None), (false, None)));
    assert_eq!((query, by_actor), ((true, Some("Asked".to_owned())), (true, Some("Played".to_owned()))));
}

#[test]
fn types_are_seen_through_groups_and_paths() {
    let input = input(
        r#"
        #[entity(table = "Table", kind = "kind")]
        #[key(partition = "", row = "")]
        struct E { a: ::core::option::Option<u8>, b: (Vec<u8>), c: Option<>, d: Vec<u8, A>, e: [u8; 2] }
        "#,
    );
    let entity = entity(&input);
    let seen: Vec<_> =
        entity.fields.iter().map(|f| (f.optional().is_some(), f.elements().is_some())).collect();
    assert_eq!(seen, [(true, false), (false, true), (false, false), (false, false), (false, false)]);
}

#[test]
fn the_other_derives_understand_their_words() {
    let cx = Ctxt::default();
    let text = r#"#[properties(rename_all = "SCREAMING_SNAKE_CASE", crate = t)]
        struct Rights { #[property(rename = "holder")] by: String, valid_to: u32, #[flatten] terms: Terms }"#;
    let input_ = input(text);
    let rights = Properties::read(&cx, &input_).unwrap();
    check::properties(&cx, &rights);
    let names: Vec<&str> = rights.fields.iter().map(|field| field.property.value.as_str()).collect();
    assert_eq!(names[..2], ["holder", "VALID_TO"]);

    let text = r#"#[key_part(rename_all = "kebab-case")]
        enum Status { InStock, #[key_part(rename = "gone")] SoldOut }"#;
    let input_ = input(text);
    let status = KeyPart::read(&cx, &input_).unwrap();
    check::key_part(&cx, &status);
    let KeyPartShape::Enum(variants) = &status.shape else { panic!("an enum") };
    assert_eq!(variants.iter().map(|v| v.text.value.as_str()).collect::<Vec<_>>(), ["in-stock", "gone"]);
    for text in ["struct Id(u32);", "struct Id { number: u32 }"] {
        let input = input(text);
        assert!(matches!(KeyPart::read(&cx, &input).unwrap().shape, KeyPartShape::Newtype { .. }));
    }

    let input_ =
        input("#[projection(of = a::Movie, crate = t)] struct Poster { title: String, r#type: String }");
    let poster = Projection::read(&cx, &input_).unwrap();
    assert_eq!(poster.fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>(), ["title", "type"]);

    let input_ = input("#[entity_set(crate = t)] enum All { Movie(Movie), #[entity_set(unknown)] Other(D) }");
    let all = EntitySet::read(&cx, &input_).unwrap();
    check::entity_set(&cx, &all);
    assert_eq!((all.members.len(), all.unknown.is_some()), (1, true));
    assert_eq!(errors(cx), [""; 0]);
}

#[test]
fn attributes_of_others_are_left_alone() {
    let input = input(
        r#"
        #[serde(rename_all = "x")] #[doc = "text"] #[other::key(5)]
        #[entity(table = "Table", kind = "kind")] #[key(partition = "", row = "")]
        #[properties(anything)]
        struct E { #[serde(default)] /** text */ a: u8 }
        "#,
    );
    entity(&input);
}

/// A few random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }
}

#[test]
fn no_attribute_makes_the_macro_panic() {
    let tokens = [
        "table",
        "kind",
        "partition",
        "row",
        "copy",
        "unique",
        "as",
        "when",
        "crate",
        "allow",
        "rename",
        "json",
        "skip",
        "of",
        "a",
        "b",
        "=",
        ",",
        "\"{a}\"",
        "\"{b\"",
        "\"Table\"",
        "5",
        "(a, b)",
        "(=)",
        "()",
        "::",
        "-",
        "{}",
        "[a]",
        "'x'",
        "all",
        "keys",
        "name",
        "rename_all",
        "\"camelCase\"",
        "version",
        "r#type",
    ];
    let attributes = [
        "entity",
        "key",
        "index",
        "property",
        "flatten",
        "encrypt",
        "properties",
        "key_part",
        "projection",
        "entity_set",
    ];
    let mut random = Random(1);
    for _ in 0..1_000 {
        let mut attributes = |count| {
            let mut text = String::new();
            for _ in 0..count {
                text.extend(["#[", attributes[random.below(attributes.len())], "("]);
                for _ in 0..random.below(9) {
                    text += tokens[random.below(tokens.len())];
                    text += " ";
                }
                text += ")] ";
            }
            text
        };
        let (outer, inner, last) = (attributes(4), attributes(2), attributes(1));
        for text in [
            format!("{outer} struct E {{ {inner} a: Option<u8>, {last} b: Vec<u8> }}"),
            format!("{outer} enum E {{ {inner} A, {last} B(u8) }}"),
            format!("{outer} struct E({inner} u8);"),
        ] {
            let Ok(input) = syn::parse_str::<DeriveInput>(&text) else { continue };
            let cx = Ctxt::default();
            if let Some(model) = Entity::read(&cx, &input) {
                check::entity(&cx, &model);
            }
            if let Some(model) = KeyPart::read(&cx, &input) {
                check::key_part(&cx, &model);
            }
            if let Some(model) = Properties::read(&cx, &input) {
                check::properties(&cx, &model);
            }
            if let Some(model) = EntitySet::read(&cx, &input) {
                check::entity_set(&cx, &model);
            }
            drop(Projection::read(&cx, &input));
            assert!(!errors(cx).is_empty(), "{text}");
        }
    }
}
