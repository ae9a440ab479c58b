//! The server of docs/examples/nats.conf, which gives workers only the permissions they need.

use super::process::start_coordinator;
use super::server::Server;
use crate::support::contest::AMPLE;
use crate::support::{Running, TestDir, eventually, python, root};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectOptions, HeaderMap};
use futures_util::TryStreamExt;
use nix::sys::signal::Signal;
use referee_fleet::bundles::read_object;
use referee_fleet::names::BRIEF;

/// Subjects that workers may not publish to. `YnJpZWY=` is the brief's name as buckets encode it.
const FORBIDDEN: &[&str] = &[
    "$KV.referee-contests.0123456789abcdef",
    "$O.referee-0123456789abcdef.M.YnJpZWY=",
    "referee.0123456789abcdef.orders.1",
    "referee.0123456789abcdef.stop",
    "referee.0123456789abcdef.resend",
    "$JS.API.STREAM.CREATE.x",
    "$JS.API.STREAM.UPDATE.x",
    "$JS.API.STREAM.DELETE.x",
    "$JS.API.STREAM.PURGE.x",
    "$JS.API.STREAM.MSG.DELETE.x",
    "$JS.API.DIRECT.GET.x",
    "$JS.API.CONSUMER.CREATE.x",
    "$JS.API.CONSUMER.CREATE.x.y",
    "$JS.API.CONSUMER.DURABLE.CREATE.x.y",
    "$JS.API.CONSUMER.DELETE.x.workers",
    "$JS.API.CONSUMER.MSG.NEXT.x.coordinator",
    "$JS.ACK.x.coordinator.1.1.1.1.1",
];

/// Returns the users of the example's configuration with passwords filled in.
pub(super) fn users() -> String {
    let file = std::fs::read_to_string(root().join("docs/examples/nats.conf")).unwrap();
    let begin = file.find("\nauthorization {").expect("a server's configuration with users");
    file[begin..].replace("$COORDINATOR_PASSWORD", "cp").replace("$WORKER_PASSWORD", "wp")
}

/// The agent's build script. It fails if it can see the worker's NATS variables.
const BUILD: &str = "if env | grep -q ^NATS_; then exit 1; fi\nmkdir -p target\n\
                     cp bot.in target/bot.py\n";

#[test]
fn workers_need_only_the_documented_permissions() {
    let (Some(server), Some(_)) = (Server::start_with(&users()), python()) else { return };
    let dir = TestDir::new();
    let bot = std::fs::read(root().join("sample-agents/python/random/bot.py")).unwrap();
    dir.write("bots/built/bot.in", bot);
    dir.write("bots/built/build.sh", BUILD);
    let manifest = "command = [\"python3\", \"target/bot.py\"]\nbuild = \"sh build.sh\"\n";
    dir.write("bots/built/agent.toml", manifest);
    dir.write(
        "cup.toml",
        format!(
            "rounds = 3\nagents = [\"@random\", \"bots/built\"]\n{AMPLE}\
             [[games]]\ngame = \"hex\"\nsetup = {{ size = 3 }}\n"
        ),
    );
    let mut worker = dir.command(&["worker", &server.url(), "--jobs", "2"]);
    worker.env("NATS_USER", "worker").env("NATS_PASSWORD", "wp");
    let worker = Running::start(worker, None);
    let on = format!("nats://coordinator:cp@127.0.0.1:{}", server.port);
    let ran = dir.run(&["contest", "run", "cup.toml", "--out", "cup", "--on", &on]).code(0);
    assert!(!ran.stderr.contains("cp@") && !ran.stdout.contains("cp@"), "{ran:?}");
    worker.send(Signal::SIGTERM);
    let ran = worker.wait().code(143);
    assert!(!ran.stderr.contains("iolation"), "{ran:?}");
    assert!(!server.log().contains("Violation"), "{}", server.log());
    dir.run(&["verify", "cup"]).code(0);
    // Not even a delete marker is left in the bucket.
    assert_eq!(server.stream_sizes(), [("KV_referee-contests".to_owned(), 0)]);
}

#[test]
fn a_user_without_permission_is_refused() {
    let users = users();
    // A worker doesn't even hear the server's answers to a coordinator.
    let Some(server) = Server::start_with(&users) else { return };
    let dir = TestDir::new();
    dir.write("cup.toml", "agents = [\"@random\", \"@first\"]\ngame = \"hex\"\n");
    let on = |server: &Server| format!("nats://worker:wp@127.0.0.1:{}", server.port);
    let words = ["contest", "run", "cup.toml", "--out", "none", "--on", &on(&server)];
    let output = dir.run(&words).code(4).stderr;
    assert!(output.contains("Permissions Violation for Subscription"), "{output}");
    assert!(output.contains("fleet-security.md") && !output.contains("wp@"), "{output}");
    let users = users.replace("_INBOX.workers.>", "_INBOX.>");
    let Some(server) = Server::start_with(&users) else { return };
    let on = on(&server);
    let output =
        dir.run(&["contest", "run", "cup.toml", "--out", "cup", "--on", &on]).code(4).stderr;
    assert!(
        output.contains("can't create the contest on this server: Permissions Violation"),
        "{output}"
    );
    assert!(output.contains("fleet-security.md"), "{output}");
    assert!(output.contains("referee contest resume cup --on nats://"), "{output}");
    assert!(!output.contains("WARN") && !output.contains("wp@"), "{output}");
}

pub(super) async fn connect(server: &Server, user: &str, password: &str) -> Client {
    let options = ConnectOptions::with_user_and_password(user.to_owned(), password.to_owned());
    let options = options.custom_inbox_prefix(format!("_INBOX.{user}s"));
    options.connect(server.url()).await.unwrap()
}

async fn read(
    jetstream: &Context,
    bucket: &str,
    name: &str,
    most: u64,
) -> Result<Option<Vec<u8>>, String> {
    let (_connected, up) = tokio::sync::watch::channel(true);
    read_object(jetstream, &up, bucket, name, most).await
}

/// Replaces a contest's brief by other bytes of the same length, with only a worker's permissions: the
/// bucket's entry stays and its chunk changes.
async fn forge(worker: &Context, change: [&str; 2]) {
    let contests = worker.get_key_value("referee-contests").await.unwrap();
    let mut keys = contests.stream.info_with_subjects("$KV.referee-contests.>").await.unwrap();
    let key = keys.try_next().await.unwrap().unwrap();
    let bucket = format!("referee-{}", key.0.rsplit('.').next().unwrap());
    let brief = read(worker, &bucket, BRIEF, 1 << 20).await.unwrap().unwrap();
    let forged = String::from_utf8(brief.clone()).unwrap().replace(change[0], change[1]);
    assert!(forged.len() == brief.len() && forged.as_bytes() != brief, "{forged}");
    let store = worker.get_object_store(&bucket).await.unwrap();
    let chunk = format!("$O.{bucket}.C.{}", store.info(BRIEF).await.unwrap().nuid);
    let mut headers = HeaderMap::new();
    headers.insert("Nats-Rollup", "sub");
    let sent = worker.publish_with_headers(chunk, headers, forged.clone().into()).await;
    sent.unwrap().await.unwrap();
    let read = read(worker, &bucket, BRIEF, 1 << 20).await.unwrap().unwrap();
    assert_eq!(read, forged.as_bytes());
}

#[test]
fn a_brief_forged_by_a_worker_is_not_played() {
    let Some(server) = Server::start_with(&users()) else { return };
    let dir = TestDir::new();
    dir.write(
        "cup.toml",
        format!("agents = [\"@random\", \"@first\"]\n{AMPLE}[[games]]\ngame = \"hex\"\nsetup = {{ size = 3 }}\n"),
    );
    let on = format!("nats://coordinator:cp@127.0.0.1:{}", server.port);
    let _coordinator = start_coordinator(&dir, &["run", "cup.toml", "--out", "cup"], &on);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let connected = async { jetstream::new(connect(&server, "worker", "wp").await) };
    let thief = runtime.block_on(connected);
    let announced = || async {
        let contests = thief.get_stream("KV_referee-contests").await;
        contests.is_ok_and(|it| it.cached_info().state.messages == 1)
    };
    assert!(eventually(|| runtime.block_on(announced())));
    runtime.block_on(forge(&thief, ["@random", "@greedy"]));
    let mut worker = dir.command(&["worker", &server.url(), "--jobs", "1"]);
    worker.env("NATS_USER", "worker").env("NATS_PASSWORD", "wp");
    let worker = Running::start(worker, None);
    let words = "invalid brief: it is not the announced one";
    worker.wait_for_stderr(words);
    worker.terminate().code(143).stderr_has("played 0 games");
}

#[test]
fn workers_cannot_write_objects_of_the_coordinator() {
    let Some(server) = Server::start_with(&users()) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let coordinator = jetstream::new(connect(&server, "coordinator", "cp").await);
        let client = connect(&server, "worker", "wp").await;
        let worker = jetstream::new(client.clone());
        let name = "referee-0123456789abcdef";
        let config = jetstream::stream::Config {
            name: format!("OBJ_{name}"),
            subjects: vec![format!("$O.{name}.C.>"), format!("$O.{name}.M.>")],
            allow_rollup: true,
            ..Default::default()
        };
        coordinator.create_stream(config).await.unwrap();
        let bucket = worker.get_object_store(name).await.unwrap();
        // More than fits in one message.
        let bytes: Vec<u8> = (0..300_000_u32).map(|number| number.to_le_bytes()[0]).collect();
        bucket.put("transcript", &mut bytes.as_slice()).await.unwrap();
        for reader in [&worker, &coordinator] {
            let read = read(reader, name, "transcript", 300_000).await.unwrap();
            assert_eq!(read.as_ref(), Some(&bytes));
        }
        let more = read(&worker, name, "transcript", 299_999).await.unwrap_err();
        assert!(more.contains("300000 bytes"), "{more}");
        assert_eq!(read(&worker, name, "gone", 1).await.unwrap(), None);
        assert!(!server.log().contains("Violation"), "{}", server.log());
        for subject in FORBIDDEN {
            client.publish(*subject, "x".into()).await.unwrap();
        }
        client.flush().await.unwrap();
        for subject in FORBIDDEN {
            let expected = format!("Publish Violation - User \"worker\", Subject {subject:?}");
            assert!(eventually(|| server.log().contains(&expected)), "{subject}: {}", server.log());
        }
    });
}
