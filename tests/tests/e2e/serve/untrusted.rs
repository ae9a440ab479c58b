//! Requests that are refused, and hostile files and names.

use super::Serving;
use super::http::ask;
use crate::support::{TestDir, golden};
use nix::sys::signal::Signal;
use std::fs;
use std::io::Write;
use std::net::TcpStream;

#[test]
fn requests_of_other_sites_are_refused() {
    let dir = TestDir::new();
    let serving = Serving::start(&dir, &[]);
    let port = serving.port;
    let own = format!("http://127.0.0.1:{port}");
    let named = format!("localhost:{port}");
    for (headers, status) in [
        (vec![], 200),
        (vec![("host", named.as_str())], 200),
        (vec![("host", "evil.example")], 421),
        (vec![("host", "127.0.0.1.evil.example")], 421),
        (vec![("origin", "http://evil.example")], 403),
        (vec![("origin", "null")], 403),
        (vec![("origin", own.as_str())], 200),
    ] {
        let reply = ask(port, "GET", "/api/overview", &headers, "");
        assert_eq!(reply.status, status, "{headers:?}");
        assert_eq!(reply.headers["x-content-type-options"], "nosniff");
        assert_eq!(reply.headers["cross-origin-resource-policy"], "same-origin");
        assert!(reply.headers["content-security-policy"].starts_with("default-src 'none'"));
    }
    let json = ("content-type", "application/json");
    for (headers, status) in [
        (vec![json], 403),
        (vec![("x-referee", "1")], 415),
        (vec![("x-referee", "1"), ("content-type", "text/plain")], 415),
        (vec![json, ("x-referee", "1"), ("origin", "http://evil.example")], 403),
        (vec![json, ("x-referee", "1")], 400),
    ] {
        let reply = ask(port, "POST", "/api/matches", &headers, "{");
        assert_eq!(reply.status, status, "{headers:?}");
    }
    let long = "x".repeat(1 << 20);
    let reply = ask(port, "POST", "/api/seat", &[json, ("x-referee", "1")], &long);
    assert_eq!(reply.status, 413);
    assert_eq!(ask(port, "DELETE", "/api/seat", &[], "").status, 405);
    serving.end();
}

#[test]
fn a_token_is_required_and_stored_in_a_cookie() {
    let dir = TestDir::new();
    let serving = Serving::start(&dir, &["--token", "open-sesame"]);
    let port = serving.port;
    assert_eq!(serving.get("/").status, 401);
    assert_eq!(serving.get("/api/overview").status, 401);
    assert_eq!(serving.get("/?token=open-sesamf").status, 401);
    let reply = serving.get("//evil.example/?a=1&token=open-sesame");
    assert_eq!((reply.status, reply.headers["location"].as_str()), (303, "/evil.example/?a=1"));
    let cookie = reply.headers["set-cookie"].clone();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    assert_eq!(ask(port, "GET", "/api/overview", &[("cookie", cookie)], "").status, 200);
    let wrong = cookie.replace("open-sesame", "open-sesamf");
    assert_eq!(ask(port, "GET", "/api/overview", &[("cookie", &wrong)], "").status, 401);
    serving.end();
}

#[test]
fn silent_connections_do_not_block_others() {
    let dir = TestDir::new();
    let serving = Serving::start(&dir, &[]);
    let silent: Vec<_> = (0..300)
        .map(|_| {
            let mut stream = TcpStream::connect(("127.0.0.1", serving.port)).unwrap();
            stream.write_all(b"GET / HTTP/1.1\r\n").unwrap();
            stream
        })
        .collect();
    assert_eq!(serving.get("/api/overview").status, 200);
    drop(silent);
    serving.end();
}

#[test]
fn other_machines_need_a_token() {
    let dir = TestDir::new();
    let words = ["serve", "--port", "0", "--host", "0.0.0.0"];
    let running = dir.start(&words);
    let url = running.wait_for_stdout("\n");
    assert!(url.contains("?token="), "{url}");
    running.send(Signal::SIGINT);
    running.wait().code(130);
}

#[test]
fn nothing_outside_the_folder_is_read() {
    let dir = TestDir::new();
    dir.write("secret.jsonl", golden("hex-fault.jsonl"));
    dir.write("shown/x.jsonl", golden("hex-fault.jsonl"));
    dir.write("shown/report.html", "<script>alert(1)</script>");
    dir.write("shown/agent.toml", "command = [\"cat\"]");
    std::os::unix::fs::symlink(dir.path("secret.jsonl"), dir.path("shown/link.jsonl")).unwrap();
    let serving = Serving::start(&dir, &["shown"]);
    assert_eq!(serving.get("/api/match?file=x.jsonl").status, 200);
    let absolute = dir.path("secret.jsonl").display().to_string();
    for name in [
        "../secret.jsonl",
        "%2e%2e/secret.jsonl",
        "..%2fsecret.jsonl",
        "link.jsonl",
        &absolute,
        "shown/../../secret.jsonl",
        "agent.toml",
        "report.html",
        "",
        "%00",
        "x.jsonl%00",
    ] {
        for path in ["/api/match?file=", "/api/follow?file=", "/files/"] {
            let reply = serving.get(&format!("{path}{name}"));
            assert!([303, 404, 400].contains(&reply.status), "{path}{name}: {}", reply.status);
            if let Some(location) = reply.headers.get("location") {
                assert!(location.starts_with("/files/") || location.starts_with("/match?"));
                assert_eq!(serving.get(location).status, 404, "{location}");
            }
        }
    }
    serving.end();
}

#[test]
fn hostile_transcripts_are_bounded_and_reported() {
    let dir = TestDir::new();
    let text = String::from_utf8(golden("hex-fault.jsonl")).unwrap();
    let name = text.split("\"name\":\"").nth(1).unwrap().split('"').next().unwrap();
    let hostile = "<img src=x onerror=alert(1)>\\u0007\\u202e";
    let quoted = |name: &str| format!("\"name\":\"{name}\"");
    dir.write("names.jsonl", text.replace(&quoted(name), &quoted(hostile)));
    dir.write("empty.jsonl", "");
    dir.write("binary.jsonl", [0xff; 5000]);
    dir.write("line.jsonl", "x".repeat(3 << 20));
    dir.write("packed.jsonl.gz", [0x1f, 0x8b, 8, 0, 1, 2, 3]);
    dir.write("off.jsonl", text.replace("\"at\":[", "\"at\":[99999999999,"));
    dir.write("seats.jsonl", text.replace("\"seat\":1", "\"seat\":200"));
    dir.write("size.jsonl", text.replace("\"size\":", "\"size\":9999"));
    fs::File::create(dir.path("huge.jsonl")).unwrap().set_len(1 << 30).unwrap();
    let serving = Serving::start(&dir, &[]);
    let rows = serving.json("/api/transcripts");
    assert_eq!(rows["total"], 8, "one has no header: {rows}");
    for row in rows["rows"].as_array().unwrap() {
        let file = row["file"].as_str().unwrap();
        let reply = serving.get(&format!("/api/match?file={file}"));
        assert!(reply.headers["content-type"].starts_with("application/json"), "{file}");
        assert!([200, 409, 413, 422].contains(&reply.status), "{file}: {}", reply.status);
        let output = reply.json();
        assert!(output["error"].is_string() || output["plies"].is_array(), "{output}");
        for path in ["lines", "text", "picture"] {
            let reply = serving.get(&format!("/api/{path}?file={file}&ply=0&form=svg"));
            assert!(reply.status < 500, "{file}: {path}");
        }
    }
    let output = serving.json("/api/match?file=names.jsonl");
    assert_eq!(output["seats"][0]["name"], "<img src=x onerror=alert(1)>\u{7}\u{202e}");
    let reply = serving.get("/api/picture?file=names.jsonl&ply=1&form=svg");
    assert!(!reply.text().contains("<img"));
    assert_eq!(serving.get("/api/match?file=huge.jsonl").status, 413);
    serving.end();
}
