//! What tokens permit: letters, operations and places, each alone and in a batch. What is expected is said by tables here, apart
//! from the code that decides it.

use table_core::access::sas::{AccountKey, AccountSas, Sas};
use table_core::{DynamicEntity, Ticks};

use crate::client::{ACCOUNT, Answer, Client, KEY};

/// An operation, the letters that it needs of `raud`, whether an entity is there before it, and whether it has a condition.
struct Operation {
    name: &'static str,
    method: &'static str,
    needs: &'static str,
    has_entity: bool,
    has_condition: bool,
    done: u16,
}

const fn operation(name: &'static str, method: &'static str, needs: &'static str, done: u16) -> Operation {
    Operation { name, method, needs, has_entity: true, has_condition: false, done }
}

const OPERATIONS: [Operation; 10] = [
    operation("get", "GET", "r", 200),
    operation("query", "GET", "r", 200),
    Operation { has_entity: false, ..operation("insert", "POST", "a", 201) },
    operation("put", "PUT", "au", 204),
    Operation { has_entity: false, ..operation("put anew", "PUT", "au", 204) },
    Operation { has_condition: true, ..operation("replace", "PUT", "u", 204) },
    Operation { has_condition: true, ..operation("merge", "PATCH", "u", 204) },
    operation("insert or merge", "MERGE", "au", 204),
    Operation { has_entity: false, ..operation("insert or merge anew", "MERGE", "au", 204) },
    Operation { has_condition: true, ..operation("delete", "DELETE", "d", 204) },
];

/// Keys, and whether they lie between `p`, `b` and `p`, `d`.
const PLACES: [(&str, &str, bool); 8] = [
    ("p", "b", true),
    ("p", "c", true),
    ("p", "d", true),
    ("p", "a", false),
    ("p", "d ", false),
    ("o", "c", false),
    ("q", "c", false),
    ("", "", false),
];

const LETTERS: [&str; 15] =
    ["r", "a", "u", "d", "ra", "ru", "rd", "au", "ad", "ud", "rau", "rad", "rud", "aud", "raud"];

/// How a token says what it permits.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Table,
    Policy,
    Account,
}

fn key() -> AccountKey {
    AccountKey::new(ACCOUNT, KEY).unwrap()
}

fn token(form: Form, letters: &str) -> String {
    let ranged = Sas::table("Company").from_row("p", "b").through_row("p", "d");
    let with = |mut sas: Sas| {
        for letter in letters.chars() {
            sas = match letter {
                'r' => sas.read(),
                'a' => sas.add(),
                'u' => sas.update(),
                _ => sas.delete(),
            };
        }
        sas
    };
    let token = match form {
        Form::Table => with(ranged).until(Ticks::MAX).sign(&key()),
        Form::Policy => ranged.policy("clerks").sign(&key()),
        Form::Account => AccountSas::new(letters).objects().until(Ticks::MAX).sign(&key()),
    };
    token.unwrap().into_string()
}

fn client() -> Client {
    let client = Client::new();
    for name in ["Company", "Other"] {
        client.post("/acme/Tables", &format!("{{\"TableName\":\"{name}\"}}"));
    }
    client
}

fn set_policy(client: &Client, letters: &str) {
    let xml = format!(
        "<SignedIdentifiers><SignedIdentifier><Id>clerks</Id><AccessPolicy><Expiry>2099-01-01T00:00:00Z</Expiry>\
         <Permission>{letters}</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>"
    );
    assert_eq!(client.send("PUT", "/acme/Company?comp=acl", &[], &xml).status(), 204);
}

/// Returns the path behind the account, and the body.
fn asked(operation: &Operation, [table, partition, row]: [&str; 3]) -> (String, String) {
    let entity = format!("{{\"PartitionKey\":\"{partition}\",\"RowKey\":\"{row}\",\"New\":1}}");
    let row = row.replace(' ', "%20");
    match operation.name {
        "query" => {
            let filter = format!("PartitionKey%20eq%20'{partition}'%20and%20RowKey%20eq%20'{row}'");
            (format!("{table}()?$filter={filter}"), String::new())
        }
        "insert" => (table.to_owned(), entity),
        "get" | "delete" => (format!("{table}(PartitionKey='{partition}',RowKey='{row}')"), String::new()),
        _ => (format!("{table}(PartitionKey='{partition}',RowKey='{row}')"), entity),
    }
}

/// Asks for an operation with a token, alone or as a batch. Returns the status and the code of its answer, and its text.
fn ask(
    client: &Client,
    token: &str,
    operation: &Operation,
    at: [&str; 3],
    is_batch: bool,
) -> (u16, String, String) {
    let (path, body) = asked(operation, at);
    let condition = operation.has_condition.then_some(("if-match", "*"));
    if !is_batch {
        let answer = client.with_token_from(
            table_server::exchange::Peer::LOCAL,
            operation.method,
            &format!("/acme/{path}"),
            token,
        )(condition.as_slice(), &body);
        return (answer.status(), answer.header("x-ms-error-code").to_owned(), answer.text().to_owned());
    }
    let condition = condition.map(|_| "If-Match: *\r\n").unwrap_or_default();
    let (before, after) = if operation.method == "GET" {
        ("--b\r\nContent-Type: application/http\r\n\r\n", "\r\n--b--\r\n")
    } else {
        (
            "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\n\r\n",
            "\r\n--c--\r\n--b--\r\n",
        )
    };
    let text = format!(
        "{before}{} http://127.0.0.1:10002/acme/{path} HTTP/1.1\r\n{condition}\r\n{body}{after}",
        operation.method
    );
    let answer = post_batch(client, token, &text);
    assert_eq!(answer.status(), 202, "{}", answer.text());
    let status = answer.text().split("HTTP/1.1 ").nth(1).unwrap()[..3].parse().unwrap();
    let code = answer.text().split("\"code\":\"").nth(1).and_then(|rest| rest.split('"').next());
    (status, code.unwrap_or_default().to_owned(), answer.text().to_owned())
}

fn post_batch(client: &Client, token: &str, text: &str) -> Answer {
    client.with_token_from(table_server::exchange::Peer::LOCAL, "POST", "/acme/$batch", token)(
        &[("content-type", "multipart/mixed; boundary=b")],
        text,
    )
}

/// Makes a place as it is before an operation: with an entity whose property `Old` is 1, or without.
fn prepare(client: &Client, operation: &Operation, [partition, row]: [&str; 2]) {
    let table = client.store.dynamic_table("Company").unwrap();
    drop(table.delete(partition, row));
    if operation.has_entity {
        table.put(&DynamicEntity::new(partition, row).with("Old", 1_i32)).unwrap();
    }
}

/// Returns whether the entity is as `prepare` has left it.
fn is_as_before(client: &Client, operation: &Operation, [partition, row]: [&str; 2]) -> bool {
    let found = client.store.dynamic_table("Company").unwrap().get(partition, row).unwrap();
    match found {
        Some(entity) => operation.has_entity && entity.get("Old").is_some() && entity.get("New").is_none(),
        None => !operation.has_entity,
    }
}

#[test]
fn tokens_permit_what_their_letters_and_their_range_say() {
    let client = client();
    let mut cells = 0;
    for form in [Form::Table, Form::Policy, Form::Account] {
        for letters in LETTERS {
            set_policy(&client, letters);
            let token = token(form, letters);
            for operation in &OPERATIONS {
                let may = operation.needs.chars().all(|letter| letters.contains(letter));
                for (partition, row, is_inside) in PLACES {
                    let is_inside = is_inside || form == Form::Account;
                    for is_batch in [false, true] {
                        // A batch has no query but one by both keys.
                        if is_batch && operation.name == "query" {
                            continue;
                        }
                        let keys = [partition, row];
                        let place =
                            format!("{form:?} {letters} {} {keys:?} batch {is_batch}", operation.name);
                        prepare(&client, operation, keys);
                        let (status, code, text) =
                            ask(&client, &token, operation, ["Company", partition, row], is_batch);
                        let expected = match (may, is_inside, operation.name) {
                            (false, ..) => (403, "AuthorizationPermissionMismatch"),
                            (true, true, _) | (true, false, "query") => (operation.done, ""),
                            (true, false, "get") => (404, "ResourceNotFound"),
                            (true, false, _) => (403, "AuthorizationFailure"),
                        };
                        assert_eq!((status, &*code), expected, "{place} {text}");
                        if operation.method == "GET" {
                            assert_eq!(text.contains("\"Old\""), may && is_inside, "{place} {text}");
                        } else {
                            let is_done = !is_as_before(&client, operation, keys);
                            assert_eq!(is_done, may && is_inside, "{place}");
                        }
                        cells += 1;
                    }
                }
            }
        }
    }
    assert_eq!(cells, 3 * 15 * 8 * 19);
}

#[test]
fn a_refused_part_undoes_its_batch() {
    let client = client();
    let token = token(Form::Table, "a");
    let part = |row: &str| {
        format!(
            "--c\r\nContent-Type: application/http\r\n\r\nPOST /acme/Company HTTP/1.1\r\n\r\n\
             {{\"PartitionKey\":\"p\",\"RowKey\":\"{row}\"}}\r\n"
        )
    };
    let batch = |rows: [&str; 3]| {
        let parts = rows.map(part).concat();
        format!("--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n{parts}--c--\r\n--b--\r\n")
    };
    for rows in [["b", "c", "e"], ["a", "b", "c"], ["b", "d0", "c"]] {
        let answer = post_batch(&client, &token, &batch(rows));
        assert!(answer.text().contains("HTTP/1.1 403"), "{rows:?} {}", answer.text());
        assert_eq!(client.get("/acme/Company()").json()["value"].as_array().unwrap().len(), 0);
    }
    let answer = post_batch(&client, &token, &batch(["b", "c", "d"]));
    assert_eq!(answer.text().matches("HTTP/1.1 201").count(), 3, "{}", answer.text());
}

#[test]
fn a_table_token_is_for_its_table_alone() {
    let client = client();
    for form in [Form::Table, Form::Policy] {
        set_policy(&client, "raud");
        let token = token(form, "raud");
        for table in ["Other", "Nothing"] {
            for operation in &OPERATIONS {
                for is_batch in [false, true] {
                    if is_batch && operation.name == "query" {
                        continue;
                    }
                    let (status, code, text) = ask(&client, &token, operation, [table, "p", "c"], is_batch);
                    assert_eq!(
                        (status, &*code),
                        (403, "AuthorizationPermissionMismatch"),
                        "{form:?} {table} {} {is_batch} {text}",
                        operation.name
                    );
                }
            }
        }
        // Case does not tell tables apart.
        assert_eq!(client.with_token("GET", "/acme/COMPANY()", &token, "").status(), 200);
    }
}

#[test]
fn the_service_and_its_tables_need_letters_of_an_account() {
    /// The method and the path, the resource type, the letters of which one is needed, and the status of what is done.
    const ASKED: [(&str, &str, char, &str, u16); 7] = [
        ("GET", "/acme/?restype=service&comp=properties", 's', "r", 200),
        ("PUT", "/acme/?restype=service&comp=properties", 's', "w", 202),
        ("GET", "/acme/?restype=service&comp=stats", 's', "r", 200),
        ("GET", "/acme/Tables", 'c', "l", 200),
        ("GET", "/acme/Tables('Company')", 'c', "l", 200),
        ("POST", "/acme/Tables", 'c', "cw", 201),
        ("DELETE", "/acme/Tables('Gone')", 'c', "d", 204),
    ];
    let client = client();
    let types: [(&str, fn(AccountSas) -> AccountSas); 4] = [
        ("s", AccountSas::service),
        ("c", AccountSas::containers),
        ("o", AccountSas::objects),
        ("sco", |sas| sas.service().containers().objects()),
    ];
    for letters in ["r", "w", "d", "l", "a", "c", "u", "rwdlacu", "ra", "wl"] {
        for (held, with) in types {
            let token = with(AccountSas::new(letters)).until(Ticks::MAX).sign(&key()).unwrap().into_string();
            for (method, path, resource, needed, done) in ASKED {
                drop(client.store.create_table("Gone"));
                drop(client.store.drop_table("Made"));
                let body = match method {
                    "POST" => r#"{"TableName":"Made"}"#,
                    "PUT" => "<StorageServiceProperties></StorageServiceProperties>",
                    _ => "",
                };
                let answer = client.with_token(method, path, &token, body);
                let expected =
                    match (held.contains(resource), needed.chars().any(|one| letters.contains(one))) {
                        (true, true) => (done, ""),
                        (true, false) => (403, "AuthorizationPermissionMismatch"),
                        (false, _) => (403, "AuthorizationResourceTypeMismatch"),
                    };
                assert_eq!(answer.refusal(), expected, "{letters} {held} {method} {path} {}", answer.text());
            }
            // No letter permits to read or to change what tokens may do.
            for method in ["GET", "PUT"] {
                let answer = client.with_token(method, "/acme/Company?comp=acl", &token, "");
                assert_eq!(answer.status(), 403, "{letters} {held} {method}");
            }
        }
    }
    let table = token(Form::Table, "raud");
    for (method, path, ..) in ASKED {
        assert_eq!(
            client.with_token(method, path, &table, "").refusal(),
            (403, "AuthorizationPermissionMismatch"),
            "{path}"
        );
    }
    for method in ["GET", "PUT"] {
        assert_eq!(client.with_token(method, "/acme/Company?comp=acl", &table, "").status(), 403);
    }
}
