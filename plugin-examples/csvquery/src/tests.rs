use serde_json::{Value, json};
use toolquay::testing::Host;
use toolquay::{Assessment, ErrorCode, Fact};

use crate::csv_query;

const PEOPLE: &str = "\
name,age,city
Ada,36,London
Grace,85,New York
Linus,54,Portland
\"Ken, the first\",9,
Barbara,100,Boston
";

fn host() -> Host {
    Host::new().with_file("people.csv", PEOPLE)
}

fn rows(query: Value) -> Value {
    let mut input = json!({"file_path": "people.csv"});
    input.as_object_mut().expect("an object").extend(query.as_object().expect("an object").clone());
    let outcome = host().call::<csv_query>(&input);
    assert!(!outcome.is_error(), "{input}: {}", outcome.text());
    outcome.structured::<Value>().expect("a table")["rows"].take()
}

#[test]
fn shows_a_table() {
    let outcome = host().call::<csv_query>(json!({"file_path": "people.csv", "limit": 2}));
    let table = "| name | age | city |\n| --- | --- | --- |\n| Ada | 36 | London |\n| Grace | 85 | New York |\n";
    assert_eq!(outcome.text(), format!("{table}\n[2 of 5 matching rows]"));
    let want = json!({
        "columns": ["name", "age", "city"],
        "rows": [["Ada", "36", "London"], ["Grace", "85", "New York"]],
        "matched": 5,
    });
    assert_eq!(outcome.structured(), Some(want));
}

#[test]
fn filters_sorts_and_selects() {
    for (query, want) in [
        (json!({"select": ["city", "name"], "limit": 1}), json!([["London", "Ada"]])),
        (json!({"select": ["age"], "order_by": "age"}), json!([["9"], ["36"], ["54"], ["85"], ["100"]])),
        (json!({"select": ["age"], "order_by": "-age", "limit": 2}), json!([["100"], ["85"]])),
        (
            json!({"select": ["name"], "where": [{"column": "age", "op": ">", "value": 60}]}),
            json!([["Grace"], ["Barbara"]]),
        ),
        (
            json!({"select": ["name"], "where": [
            {"column": "age", "op": "<=", "value": "54"}, {"column": "city", "op": "not_empty"}]}),
            json!([["Ada"], ["Linus"]]),
        ),
        (
            json!({"select": ["name"], "where": [{"column": "city", "op": "contains", "value": "LON"}]}),
            json!([["Ada"]]),
        ),
        (json!({"select": ["name"], "where": [{"column": "city", "op": "empty"}]}), json!([["Ken, the first"]])),
        (json!({"where": [{"column": "name", "op": "=", "value": "Nobody"}]}), json!([])),
    ] {
        assert_eq!(rows(query.clone()), want, "{query}");
    }
}

#[test]
fn refuses_what_makes_no_sense_before_it_runs() {
    for (query, want) in [
        (json!({"where": [{"column": "age", "op": ">"}]}), "where: the condition on \"age\" needs a value"),
        (
            json!({"where": [{"column": "age", "op": "empty", "value": 1}]}),
            "where: the condition on \"age\" takes no value",
        ),
        (
            json!({"where": [{"column": "age", "op": "=", "value": []}]}),
            "where: the condition on \"age\" needs a text, number or bool as value",
        ),
        (json!({"select": ["a", "a"]}), "select names the column \"a\" twice"),
        (json!({"order_by": "-"}), "order_by names no column"),
        (json!({"delimiter": "é"}), "the delimiter \"é\" is not one ASCII character such as \",\", \";\" or a tab"),
    ] {
        let mut input = json!({"file_path": "people.csv"});
        input.as_object_mut().expect("an object").extend(query.as_object().expect("an object").clone());
        assert_eq!(host().assess::<csv_query>(&input, &[]).refusal(), Some(want), "{query}");
        assert_eq!(host().call::<csv_query>(&input).error().map(|err| err.code), Some(ErrorCode::InvalidInput));
    }
    let fact = Fact { path: "dir".into(), exists: true, kind: "directory".into(), ..Fact::default() };
    let refusal = host().assess::<csv_query>(json!({"file_path": "dir"}), &[fact]);
    assert_eq!(refusal.refusal(), Some("dir is a directory; give one CSV file"));
    assert_eq!(host().assess::<csv_query>(json!({"file_path": "people.csv"}), &[]).refusal(), None);
}

#[test]
fn failures_say_where() {
    let host = host().with_file("latin.csv", [b'a', b'\n', 0xe9, b'\n']);
    let unknown = json!({"file_path": "people.csv", "select": ["height"]});
    assert_eq!(
        host.call::<csv_query>(unknown).text(),
        "people.csv: there is no column \"height\"; the columns are name, age, city"
    );
    let outcome = host.call::<csv_query>(json!({"file_path": "latin.csv"}));
    assert_eq!(outcome.error().map(|err| err.code), Some(ErrorCode::NotText));
    let outcome = host.call::<csv_query>(json!({"file_path": "none.csv"}));
    assert_eq!(outcome.error().map(|err| err.code), Some(ErrorCode::NotFound));
}

#[test]
fn takes_the_delimiter_from_call_or_configuration() {
    let host = Host::new().with_file("a.csv", "a;b\n1;x|y\n").with_config("delimiter", ";");
    let outcome = host.call::<csv_query>(json!({"file_path": "a.csv"}));
    assert_eq!(outcome.text(), "| a | b |\n| --- | --- |\n| 1 | x\\|y |\n\n[1 matching row]");
    let outcome = host.call::<csv_query>(json!({"file_path": "a.csv", "delimiter": "|", "select": ["a;b"]}));
    assert_eq!(outcome.structured::<Value>().map(|mut table| table["rows"].take()), Some(json!([["1;x"]])));
}

#[test]
fn tells_how_much_is_read() {
    let rows = "Ada,36,London\n".repeat(200_000);
    let size = f64::from(u32::try_from("name,age,city\n".len() + rows.len()).expect("a size"));
    let long = Host::new().with_file("long.csv", format!("name,age,city\n{rows}"));
    let outcome = long.call::<csv_query>(json!({"file_path": "long.csv", "limit": 1}));
    let told = outcome.progress();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].done < told[1].done && told.iter().all(|p| p.total == size), "{told:?}");
    assert_eq!(host().call::<csv_query>(json!({"file_path": "people.csv"})).progress(), []);
}

#[test]
fn touches_the_file_and_nothing_else() {
    let assessment = host().assess::<csv_query>(json!({"file_path": "people.csv"}), &[]);
    assert_eq!(assessment, Assessment::new().reads("people.csv"));
}
