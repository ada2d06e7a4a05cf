use serde_json::{Value, json};
use toolquay::testing::{Host, Outcome, Reply};
use toolquay::{ErrorCode, ToolError};

use crate::query::{Query, Word};
use crate::{Deferred, score, search};

fn tool(name: &str, hint: &str, description: &str) -> Deferred {
    Deferred { name: name.into(), hint: hint.into(), description: description.into(), mcp: name.starts_with("mcp__") }
}

fn tools() -> Vec<Deferred> {
    vec![
        tool("CronCreate", "schedule recurring prompt", "Runs a prompt at times you say."),
        tool("LSP", "definition references hover", "Asks a language server about code."),
        tool("NotebookEdit", "jupyter ipynb cell", "Replaces a cell of a notebook."),
        tool("WebFetch", "download page url", "Fetches a page and shows it as text."),
        tool("mcp__github__create_issue", "", "Opens an issue in a repository."),
        tool("mcp__slack-bot__send_message", "", "Sends a message to a channel."),
        tool("mcp__slack__sendMessage", "", "Sends a message."),
    ]
}

fn words(query: &str) -> Vec<Word> {
    match Query::parse(query) {
        Ok(Query::Words(words)) => words,
        other => panic!("{query}: {other:?}"),
    }
}

fn found(query: &str) -> Vec<String> {
    score::search(&tools(), &words(query), 5).iter().map(|tool| tool.name.clone()).collect()
}

#[test]
fn names_are_taken_apart() {
    for (name, want) in [
        ("NotebookEdit", "notebook edit"),
        ("LSP", "lsp"),
        ("LSPServer2Go", "lsp server2 go"),
        ("mcp__slack-bot__sendMessage", "mcp slack bot send message"),
        ("snake_case_name", "snake case name"),
        ("HTTPGet", "http get"),
        ("getURL", "get url"),
        ("Über_Größe", "über größe"),
        ("__", ""),
    ] {
        assert_eq!(score::parts(name).join(" "), want, "{name}");
    }
}

#[test]
fn every_place_has_its_points() {
    let own = tool("NotebookEdit", "jupyter cell", "Replaces a notebook's cell; art is not start.");
    let mcp = tool("mcp__files__NotebookEdit", "jupyter cell", "Replaces a notebook's cell; art is not start.");
    for (word, points, mcp_points) in [
        ("notebook", 10 + 2, 12 + 2), // in name and description
        ("edit", 10, 12),
        ("book", 5, 6),          // within the name
        ("notebook-edit", 5, 6), // across its parts
        ("tebooked", 5, 6),
        ("jupyter", 4, 4),
        ("cell", 4 + 2, 4 + 2),
        ("art", 2, 2), // a whole word only
        ("replace", 0, 0),
        ("jup", 0, 0),
        ("mcp", 0, 0), // says nothing
        ("notebook edit", 22, 26),
        ("NOTEBOOK", 12, 14),
    ] {
        let want = |points| (points > 0).then_some(points);
        assert_eq!(score::score(&own, &words(word)), want(points), "{word}");
        assert_eq!(score::score(&mcp, &words(word)), want(mcp_points), "{word} of an MCP server");
    }
    // Models write whole names without select:, and the beginnings of them.
    for (word, points, mcp_points) in [
        ("notebookedit", 5, 6),
        ("mcp__files__NotebookEdit", 0, 6),
        ("mcp__files", 0, 12),
        ("+mcp__files", 0, 12),
        ("+mcp__files__notebook", 0, 6),
    ] {
        let want = |points| (points > 0).then_some(points);
        assert_eq!(score::score(&own, &words(word)), want(points), "{word}");
        assert_eq!(score::score(&mcp, &words(word)), want(mcp_points), "{word} of an MCP server");
    }
    let named = tool("mcp__x", "", "");
    assert_eq!(score::score(&Deferred { mcp: false, ..named }, &words("mcp")), Some(10));
}

#[test]
fn required_words_must_be_in_the_name() {
    assert_eq!(found("+slack"), ["mcp__slack-bot__send_message", "mcp__slack__sendMessage"]);
    assert_eq!(found("+slack channel"), ["mcp__slack-bot__send_message", "mcp__slack__sendMessage"]);
    assert_eq!(found("message +slack +bot"), ["mcp__slack-bot__send_message"]);
    // In the hint it does not count.
    assert_eq!(found("+jupyter"), [""; 0]);
    // The other words rank, and nothing is left out that none of them is in.
    assert_eq!(found("+slack create"), ["mcp__slack-bot__send_message", "mcp__slack__sendMessage"]);
    assert_eq!(found("+create cron"), ["CronCreate", "mcp__github__create_issue"]);
}

#[test]
fn the_best_come_first_and_equals_stay_in_order() {
    assert_eq!(found("notebook"), ["NotebookEdit"]);
    assert_eq!(found("create"), ["mcp__github__create_issue", "CronCreate"]);
    assert_eq!(found("message"), ["mcp__slack-bot__send_message", "mcp__slack__sendMessage"]);
    assert_eq!(found("page, url"), ["WebFetch"]);
    assert_eq!(found("quantum"), [""; 0]);
    let one: Vec<_> = score::search(&tools(), &words("message"), 1).iter().map(|tool| tool.name.clone()).collect();
    assert_eq!(one, ["mcp__slack-bot__send_message"]);
}

/// Turns a list in all ways that rotating and reversing can.
fn orders(list: &[Deferred]) -> Vec<Vec<Deferred>> {
    let turned = (0..list.len()).map(|i| [&list[i..], &list[..i]].concat());
    turned.flat_map(|list| [list.clone(), list.into_iter().rev().collect()]).collect()
}

#[test]
fn what_is_found_does_not_depend_on_the_order_of_tools() {
    for query in ["create", "notebook cell", "+slack", "page"] {
        let mut want = found(query);
        want.sort();
        for list in orders(&tools()) {
            let points: Vec<_> = score::search(&list, &words(query), 5);
            let scores: Vec<_> = points.iter().map(|tool| score::score(tool, &words(query))).collect();
            assert!(scores.is_sorted_by(|a, b| a >= b), "{query}: {scores:?}");
            let mut got: Vec<_> = points.iter().map(|tool| tool.name.clone()).collect();
            got.sort();
            assert_eq!(got, want, "{query}");
        }
    }
}

#[test]
fn queries_are_read() {
    let select = |names: &[&str]| Some(Query::Select(names.iter().map(|&name| name.to_owned()).collect()));
    let word = |text: &str, required| Word { text: text.to_owned(), required };
    for (text, want) in [
        ("select:A", select(&["A"])),
        ("  Select: A ,B,, C ", select(&["A", "B", "C"])),
        ("select:", None),
        ("select: , ", None),
        ("", None),
        (" + - ", None),
        ("+Slack send", Some(Query::Words(vec![word("slack", true), word("send", false)]))),
        ("\"send\" (message)", Some(Query::Words(vec![word("send", false), word("message", false)]))),
        ("selected tools", Some(Query::Words(vec![word("selected", false), word("tools", false)]))),
        ("größe", Some(Query::Words(vec![word("größe", false)]))),
    ] {
        match Query::parse(text) {
            Ok(got) => assert_eq!(Some(got), want, "{text:?}"),
            Err(err) => assert!(want.is_none() && err.code == ErrorCode::InvalidInput, "{text:?}: {err}"),
        }
    }
}

#[test]
fn tools_are_selected_by_name() {
    let tools = tools();
    for (names, want) in [
        ("LSP", "LSP"),
        ("WebFetch,LSP", "WebFetch LSP"),
        ("lsp,LSP", "LSP"), // once
        ("webfetch", "WebFetch"),
        ("Web", ""),
        ("LSP,Nothing", "LSP"),
    ] {
        let names: Vec<_> = names.split(',').map(str::to_owned).collect();
        let got: Vec<_> = score::select(&tools, &names).iter().map(|tool| tool.name.clone()).collect();
        assert_eq!(got.join(" "), want, "{names:?}");
    }
    // The exact name goes before one in another case.
    let both = [tool("Lsp", "", ""), tool("LSP", "", "")];
    assert_eq!(score::select(&both, &["LSP".to_owned()])[0].name, "LSP");
}

/// A host with the tools above, and Read beside them.
fn call(input: Value) -> Outcome {
    let list: Vec<_> = tools()
        .into_iter()
        .map(|t| json!({"name": t.name, "hint": t.hint, "description": t.description, "mcp": t.mcp}))
        .collect();
    let host = Host::new().on("tools.list", move |_| {
        let ok = json!({"count": list.len(), "ready": ["Read", "ToolSearch"]});
        Ok(Reply::new(ok).with_body(json!(list).to_string()))
    });
    host.call::<search>(input)
}

#[test]
fn what_is_found_is_referred_to() {
    let outcome = call(json!({"query": "select:LSP,notebookedit"}));
    let blocks: Vec<_> = outcome.content().iter().map(|b| (b.kind.as_str(), b.tool_name.as_str())).collect();
    assert_eq!(blocks, [("tool_reference", "LSP"), ("tool_reference", "NotebookEdit")]);
    let want =
        json!({"matches": ["LSP", "NotebookEdit"], "query": "select:LSP,notebookedit", "total_deferred_tools": 7});
    assert_eq!(outcome.structured(), Some(want));
    assert_eq!(call(json!({"query": "message", "max_results": 1})).content().len(), 1);
}

#[test]
fn what_is_not_found_is_explained() {
    for (query, want) in [
        (
            "quantum",
            "Nothing matches among the 7 deferred tools; try other words for the same, or take a name from the list in \
             this tool's description: select:NAME",
        ),
        (
            "+jupyter",
            "None of the 7 deferred tools has what is required in its name; leave out the plus signs, or take a name \
             from the list in this tool's description: select:NAME",
        ),
        ("select:read", "Read need not be loaded: call it as it is."),
        ("select:Read,ToolSearch", "Read and ToolSearch need not be loaded: call them as they are."),
        ("select:NotebookWrite", "None of the 7 deferred tools is called NotebookWrite; did you mean NotebookEdit?"),
        ("select:Quantum", "None of the 7 deferred tools is called Quantum; search for words of what it does instead"),
    ] {
        let outcome = call(json!({"query": query}));
        assert!(!outcome.is_error(), "{query}");
        assert_eq!(outcome.text(), want);
        assert_eq!(outcome.structured::<Value>().map(|got| got["matches"].clone()), Some(json!([])));
    }
    let none = Host::new().on("tools.list", |_| Ok(Reply::new(json!({"count": 0})).with_body("[]")));
    let text = none.call::<search>(json!({"query": "x"})).text();
    assert_eq!(text, "No tools are deferred: all there are can be called as they are.");
}

#[test]
fn servers_that_still_connect_are_named() {
    let host = Host::new().on("tools.list", |_| {
        let ok = json!({"count": 1, "ready": ["Read"], "pending": ["github", "slack"]});
        Ok(Reply::new(ok).with_body(json!([{"name": "LSP"}]).to_string()))
    });
    const NOTE: &str = "MCP servers that are still connecting, whose tools are not listed yet: github, slack. If a tool \
                        of theirs is needed, search again in a moment.";
    for (query, matches, kinds) in [
        ("lsp", json!(["LSP"]), ["tool_reference", "text"]),
        ("issue", json!([]), ["text", "text"]),
        ("select:mcp__slack__send", json!([]), ["text", "text"]),
    ] {
        let outcome = host.call::<search>(json!({"query": query}));
        let content = outcome.content();
        assert_eq!(content.iter().map(|b| b.kind.as_str()).collect::<Vec<_>>(), kinds, "{query}");
        assert!(outcome.text().ends_with(NOTE), "{query}: {}", outcome.text());
        let want = json!({
            "matches": matches, "query": query, "total_deferred_tools": 1, "pending_mcp_servers": ["github", "slack"],
        });
        assert_eq!(outcome.structured(), Some(want));
    }
}

#[test]
fn failures_are_passed_on() {
    assert_eq!(call(json!({"query": "select:"})).error().map(|err| err.code), Some(ErrorCode::InvalidInput));
    assert_eq!(call(json!({"query": "+"})).error().map(|err| err.code), Some(ErrorCode::InvalidInput));
    let broken = Host::new().on("tools.list", |_| Ok(Reply::new(json!({"count": 1})).with_body("[")));
    assert_eq!(broken.call::<search>(json!({"query": "x"})).error().map(|err| err.code), Some(ErrorCode::Protocol));
    let denied = Host::new().on("tools.list", |_| Err(ToolError::new(ErrorCode::Denied, "a rule says no")));
    assert_eq!(denied.call::<search>(json!({"query": "x"})).text(), "a rule says no");
}

/// Random texts of pieces that are likely to break something.
fn random_texts() -> impl Iterator<Item = String> {
    const PIECES: [&str; 16] = [
        "select:",
        "SELECT:",
        "+",
        ",",
        " ",
        "-",
        "_",
        "a",
        "Edit",
        "ß",
        "İ",
        "ǅ",
        "é",
        "\u{301}",
        "mcp__",
        "\u{10ffff}",
    ];
    let mut state = 1_u64;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("31 bits")
    };
    std::iter::repeat_with(move || (0..next() % 9).map(|_| PIECES[next() % PIECES.len()]).collect()).take(20_000)
}

#[test]
fn no_text_breaks_it() {
    let mut tools = tools();
    for text in random_texts() {
        tools[0] = tool(&text, &text, &text);
        match Query::parse(&text) {
            Ok(Query::Words(words)) => {
                assert!(words.iter().all(|word| !word.text.is_empty()), "{text:?}");
                let found = score::search(&tools, &words, 3);
                assert!(found.len() <= 3, "{text:?}");
                // What is in the description as a word of the query is found.
                let only = [Deferred { name: "X".to_owned(), ..tool("", &text, &text) }];
                let some = words.iter().all(|word| !word.required);
                assert!(!some || !score::search(&only, &words, 1).is_empty(), "{text:?}");
            }
            Ok(Query::Select(names)) => {
                assert!(names.iter().all(|name| !name.is_empty() && !name.contains(',')), "{text:?}");
                assert!(score::select(&tools, &names).len() <= names.len(), "{text:?}");
                assert!(score::near(&tools, &names).len() <= 3, "{text:?}");
            }
            Err(err) => assert_eq!(err.code, ErrorCode::InvalidInput, "{text:?}"),
        }
    }
}
