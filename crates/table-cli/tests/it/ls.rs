//! `tables ls`.

use snapbox::str;
use table_core::Store;

use crate::run::{on_company, same, tables, to_people};

#[test]
fn tables_are_listed_with_their_kinds() {
    same(
        to_people(&["ls"]).shown(),
        str![[r#"
table           kind        version  indexes                          rows  bytes
Company         department        1                                     14   1037
Company         employee          1  by_email, by_project, headcount
Logins20140730  login             1                                      1     44
Logins20140731  login             1                                      1     44
Names           employee          1  by_name                             4    156
Notes                                                                    3    173
Payroll         contract          1  by_number                           4    812
Shop            product           1  by_price, by_name                   8    389
Tickets         ticket            1  by_state (being made)             300  13200
Weather         year              1                                      2    124
[0]

"#]],
    );
}

#[test]
fn entities_and_copies_are_counted_when_asked_for() {
    same(
        to_people(&["ls", "--count"]).shown(),
        str![[r#"
table           kind        version  indexes                          rows  bytes  entities  copies
Company         department        1                                     14   1037         2       0
Company         employee          1  by_email, by_project, headcount                      4       8
Logins20140730  login             1                                      1     44         1       0
Logins20140731  login             1                                      1     44         1       0
Names           employee          1  by_name                             4    156         0       4
Notes                                                                    3    173         3       0
Payroll         contract          1  by_number                           4    812         2       2
Shop            product           1  by_price, by_name                   8    389         3       5
Tickets         ticket            1  by_state (being made)             300  13200       300       0
Weather         year              1                                      2    124         1       1
[0]

"#]],
    );
}

#[test]
fn tables_are_listed_in_each_format() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("company.tables");
    let store = Store::open(&path).unwrap();
    store.create_table("Company").unwrap();
    store.close().unwrap();
    let path = path.to_str().unwrap();

    let line =
        "{\"table\":\"Company\",\"kind\":null,\"version\":null,\"indexes\":null,\"rows\":0,\"bytes\":0}";
    let ran = tables(&["ls", "--store", path]);
    assert_eq!((ran.out, ran.code), (format!("{line}\n"), 0), "{}", ran.err);
    let ran = tables(&["ls", "--store", path, "--format", "json"]);
    assert_eq!(ran.out, format!("[{line}]\n"));
    let ran = tables(&["ls", "--store", path, "--format", "csv"]);
    assert_eq!(ran.out, "table,kind,version,indexes,rows,bytes\nCompany,,,,0,0\n");
    let ran = tables(&["ls", "--store", path, "--format", "md"]);
    let table =
        "| table | kind | version | indexes | rows | bytes |\n| --- | --- | --- | --- | --- | --- |\n";
    assert_eq!(ran.out, format!("{table}| Company |  |  |  | 0 | 0 |\n"));
    let ran = tables(&["ls", "--store", path, "--format", "line"]);
    assert_eq!(ran.out, "table = Company\nkind = \nversion = \nindexes = \nrows = 0\nbytes = 0\n");
}

#[test]
fn a_store_that_is_not_there_is_not_made() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("nothing.tables");
    let ran = tables(&["ls", "--store", path.to_str().unwrap(), "--errors", "json"]);
    assert_eq!((ran.out.as_str(), ran.code), ("", 3), "{}", ran.err);
    assert!(ran.err.starts_with("{\"error\":{\"code\":\"ResourceNotFound\""), "{}", ran.err);
    assert!(!path.exists());

    // A directory that is no store is not made one.
    std::fs::create_dir(&path).unwrap();
    let ran = tables(&["ls", "--store", path.to_str().unwrap(), "--write"]);
    assert_ne!(ran.code, 0);
    assert_eq!(std::fs::read_dir(&path).unwrap().count(), 0);
}

#[test]
fn a_word_that_is_no_option_is_refused() {
    let ran = on_company(&["ls", "--all"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("--all"), "{}", ran.err);
    let ran = tables(&["look"]);
    assert_eq!(ran.code, 2);
}

#[test]
fn what_lets_its_bearer_in_is_not_repeated() {
    let directory = tempfile::tempdir().unwrap();
    let from = directory.path().join("from.tables");
    Store::open(&from).unwrap().create_table("Notes").unwrap();
    let from = from.to_str().unwrap();
    for (store, word) in [
        ("DefaultEndpointsProtocol=https;AccountName=contoso;AccountKey=c2VjcmV0", "azure:"),
        ("UseDevelopmentStorage=true", "write `azure:` before it"),
        ("TableEndpoint=https://contoso.example;SharedAccessSignature=sig=c2VjcmV0", "azure:"),
        ("mysql://jun:c2VjcmV0@localhost/company", "mysql://.."),
    ] {
        for arguments in
            [&["ls", "--store", store][..], &["copy", "--write", from, store], &["diff", from, store]]
        {
            let ran = tables(arguments);
            assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
            assert!(ran.err.contains(word) && !ran.err.contains("c2VjcmV0"), "{}", ran.err);
        }
        assert!(!std::fs::exists(store).unwrap());
    }
}

#[test]
fn what_is_no_command_line_is_told_as_json_where_that_is_asked_for() {
    for arguments in
        [&["ls", "--all", "--errors", "json"][..], &["look", "--errors=json"], &["--errors", "json"]]
    {
        let ran = tables(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
        assert!(ran.err.starts_with("{\"error\":{\"code\":\"InvalidInput\",\"message\":"), "{}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    }
}
