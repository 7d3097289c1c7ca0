//! Queues on several connections, as several processes have them, and on connections that are cut.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test that fails panics"
)]

mod support;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use support::proxy::{Cut, Proxy};
use support::{options, schema, server, server_at, server_port};
use table_core::__executor::{Plan, QueueId, QueueOp, Release, SealedAt, Sending, Task};
use table_core::queue::{Queue, Received, StoredMessage};
use table_core::{Entity, ErrorKind, Store};
use table_postgres::PostgresTables;

/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(3_600);

/// A number that was dealt with.
#[derive(Clone, Debug, PartialEq, Entity)]
#[entity(table = "Numbers", kind = "number")]
#[key(partition = "done", row = "{number:012}")]
struct Done {
    number: u64,
}

fn numbers(tables: &PostgresTables) -> Queue<u64> {
    tables.queue("numbers").unwrap()
}

/// Receives the next message. Where a connection was cut, the server may pass it over until it has found that out.
fn next(queue: &Queue<u64>) -> Received<u64> {
    queue.wait(LONG, LONG).unwrap().unwrap()
}

/// Does a bit of everything, and checks that each has happened once.
fn work(tables: &PostgresTables, queue: &Queue<u64>, from: u64) {
    let done = tables.table::<Done>().unwrap();
    let before = queue.stats().unwrap();
    queue.send(&from).unwrap();
    assert_eq!(queue.send_all(&[from + 1, from + 2, from + 3]).unwrap().len(), 3);
    assert!(queue.send_unique("only", &(from + 4)).unwrap());
    assert!(!queue.send_unique("only", &0).unwrap());
    let first = next(queue);
    assert_eq!((*first, first.count()), (from, 1));
    first.extend(LONG).unwrap();
    done.egt(Done::partition())
        .insert(&Done { number: from })
        .complete(&first)
        .send(queue, &(from + 5))
        .commit()
        .unwrap();
    let second = next(queue);
    second.fail("not yet", Duration::ZERO).unwrap();
    let third = next(queue);
    let fourth = third.complete_and_receive(LONG).unwrap().unwrap();
    assert_eq!((*second, *third, *fourth), (from + 1, from + 2, from + 3));
    fourth.delete().unwrap();
    let rest = [next(queue), next(queue), next(queue)];
    let mut seen = rest.each_ref().map(|number| (**number - from, number.count()));
    seen.sort_unstable();
    assert_eq!(seen, [(1, 2), (4, 1), (5, 1)]);
    assert_eq!(queue.delete_all(&rest).unwrap(), 3);
    let after = queue.stats().unwrap();
    assert_eq!((after.sent - before.sent, after.completed - before.completed), (6, 6));
    assert_eq!((after.ready, after.hidden), (0, 0));
    assert!(done.get(Done::key(from)).unwrap().is_some());
}

/// Does something once for each message that a connection is cut at, before or behind it, with a number of its own; returns how
/// often a connection was cut.
fn with_each_cut(proxy: &Proxy, mut work: impl FnMut(u64)) -> u64 {
    let (mut runs, mut from) = (0, 0);
    for cut in [Cut::Before, Cut::Behind] {
        for message in 0.. {
            proxy.cut_at(message, cut);
            from += 1_000;
            work(from);
            if proxy.stop() == 0 {
                break;
            }
            runs += 1;
        }
    }
    println!("{runs} cuts");
    runs
}

#[test]
fn a_connection_may_be_cut_at_any_message() {
    let proxy = Proxy::begin(server_port());
    let tables = options().connect(&server_at(proxy.port)).unwrap();
    let queue = numbers(&tables);
    work(&tables, &queue, 0);
    proxy.stop();
    let runs = with_each_cut(&proxy, |from| work(&tables, &queue, from));
    assert!(runs > 60, "{runs}");
}

/// A receive whose connection was lost may be at work still when its client asks what became of it: what it holds is waited for
/// then, and not passed over by the next receive.
#[test]
fn what_a_lost_receive_holds_is_not_passed_over() {
    let (proxy, schema) = (Proxy::begin(server_port()), schema());
    let tables = PostgresTables::options().schema(&schema).connect(&server_at(proxy.port)).unwrap();
    let queue = numbers(&tables);
    queue.send_all(&(0..7).collect::<Vec<_>>()).unwrap();
    assert_eq!(*queue.receive(LONG).unwrap().unwrap(), 0);
    // It holds its message for long before it says so.
    support::execute(&format!(
        "CREATE FUNCTION {schema}.slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF NEW.time >= 0 THEN PERFORM pg_sleep(0.2); END IF; RETURN NEW; END $$;
         CREATE TRIGGER slow BEFORE INSERT ON {schema}._commits FOR EACH ROW EXECUTE FUNCTION {schema}.slow()"
    ));
    for number in 1..7 {
        // Behind what has the statement carried out, and behind what ends its transaction.
        proxy.cut_at(1 + i64::try_from(number % 2).unwrap(), Cut::Behind);
        let received = next(&queue);
        assert_eq!((*received, received.count()), (number, 1));
        assert_eq!(proxy.stop(), 1);
    }
}

#[test]
fn a_connection_of_calls_that_are_awaited_may_be_cut_at_any_message() {
    let proxy = Proxy::begin(server_port());
    let tables = options().connect(&server_at(proxy.port)).unwrap();
    let queue = numbers(&tables);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let awaited = tables.to_async();
    let awaited = runtime.block_on(awaited.queue::<u64>("numbers")).unwrap();
    let runs = with_each_cut(&proxy, |from| {
        runtime.block_on(async {
            let before = queue.stats().unwrap().completed;
            awaited.send_all(&[from, from + 1]).await.unwrap();
            let first = awaited.receive(LONG).await.unwrap();
            let second = first.complete_and_receive(LONG).await.unwrap().unwrap();
            assert_eq!((**first, **second, second.count()), (from, from + 1, 1));
            second.delete().await.unwrap();
            assert_eq!(queue.stats().unwrap().completed, before + 2);
        });
    });
    assert!(runs > 20, "{runs}");
}

#[test]
fn each_message_is_of_one_of_many_receivers_in_several_processes() {
    let options = PostgresTables::options().schema(schema());
    let stores: Vec<_> = (0..3).map(|_| options.connect(&server()).unwrap()).collect();
    let sender = numbers(&stores[0]);
    let seen: Mutex<BTreeMap<u64, u32>> = Mutex::default();
    thread::scope(|scope| {
        for receiver in 0..9 {
            let (store, seen) = (&stores[receiver % 3], &seen);
            scope.spawn(move || {
                let (queue, done) = (numbers(store), store.table::<Done>().unwrap());
                // What a process sends another one finds by looking.
                while let Some(number) = queue.wait(Duration::from_secs(2), LONG).unwrap() {
                    *seen.lock().unwrap().entry(*number).or_default() += 1;
                    if *number % 2 == 0 {
                        let noted = Done { number: *number };
                        done.egt(Done::partition()).insert(&noted).complete(&number).commit().unwrap();
                    } else {
                        number.delete().unwrap();
                    }
                }
            });
        }
        for number in 0..300 {
            sender.send(&number).unwrap();
        }
        sender.send_all(&(300..600).collect::<Vec<_>>()).unwrap();
    });
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen, (0..600).map(|number| (number, 1)).collect());
    let stats = numbers(&stores[2]).stats().unwrap();
    assert_eq!((stats.sent, stats.completed, stats.ready, stats.hidden), (600, 600, 0, 0));
    assert_eq!(stores[1].table::<Done>().unwrap().all().into_iter().count(), 300);
}

#[test]
fn a_key_is_of_one_of_many_who_send_it_at_once() {
    let options = PostgresTables::options().schema(schema());
    let stores: Vec<_> = (0..2).map(|_| options.connect(&server()).unwrap()).collect();
    for round in 0..20 {
        let sent: u32 = thread::scope(|scope| {
            let sends = (0..8).map(|sender| {
                let queue = numbers(&stores[sender % 2]);
                scope.spawn(move || u32::from(queue.send_unique(&format!("key\0{round}"), &7).unwrap()))
            });
            let sends: Vec<_> = sends.collect();
            sends.into_iter().map(|send| send.join().unwrap()).sum()
        });
        assert_eq!(sent, 1);
    }
    let stats = numbers(&stores[0]).stats().unwrap();
    assert_eq!((stats.sent, stats.ready, stats.unique), (20, 20, 20));
}

#[test]
fn a_queue_may_be_dropped_while_others_send() {
    let tables = support::tables();
    let queue = numbers(&tables);
    thread::scope(|scope| {
        for _ in 0..4 {
            let queue = queue.clone();
            scope.spawn(move || {
                let refused = (0..).find_map(|number| queue.send(&number).err()).unwrap();
                assert_eq!(refused.kind(), ErrorKind::QueueNotFound);
            });
        }
        thread::sleep(Duration::from_millis(100));
        tables.drop_queue("numbers").unwrap();
    });
    assert_eq!(tables.queues().unwrap(), [""; 0]);
    // Another one of the name has nothing of it.
    let again = numbers(&tables).stats().unwrap();
    assert_eq!((again.sent, again.ready), (0, 0));
}

#[test]
fn an_error_that_no_text_of_the_server_can_hold_goes_back_with_its_message() {
    let queue = numbers(&support::tables());
    queue.send(&1).unwrap();
    let long = "é\0".repeat(600);
    queue.receive(LONG).unwrap().unwrap().fail(&long, Duration::ZERO).unwrap();
    let again = queue.receive(LONG).unwrap().unwrap();
    let kept = again.last_error().unwrap();
    assert!(kept.starts_with("é\u{fffd}é\u{fffd}") && kept.chars().count() == 682, "{kept}");
}

/// What the engine never asks for has an error of its own, and does nothing.
#[test]
fn what_no_queue_can_do_is_refused() {
    let tables = support::tables();
    let (queue, backend) = (numbers(&tables), tables.backend().clone());
    let queues = backend.queues().unwrap();
    let id = queues.open("numbers").unwrap();
    let op = |queue, task| QueueOp { queue, name: None, task };
    let send = |body: &str| {
        Task::Send(Sending {
            body: body.into(),
            after: Duration::MAX,
            lives: Some(Duration::MAX),
            unique: None,
            history: None,
        })
    };
    // A text with NUL is no JSON.
    let error = queues.carry_out(vec![op(id, send("1")), op(id, send("a\0b"))]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io, "{error}");
    let strange = QueueId { store: id.store ^ 1, ..id };
    for refused in [queues.carry_out(vec![op(strange, send("1"))]).map(drop), queues.stats(strange).map(drop)]
    {
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::QueueNotFound);
    }
    let refused = |task| {
        let plan = Plan { queue_ops: vec![op(id, send("1")), op(id, task)], ..Plan::default() };
        backend.commit(&[], &plan, &SealedAt::NOTHING).map(drop).unwrap_err().error
    };
    let error = refused(Task::Pause(true));
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert!(error.to_string().contains("sent and completed"), "{error}");
    queue.send(&1).unwrap();
    let receipt = queues.peek(id, 1).unwrap()[0].receipt;
    let error = refused(Task::Complete(receipt));
    assert_eq!(error.kind(), ErrorKind::StaleReceipt, "{error}");
    let back = op(id, Task::Release(receipt, Release::default()));
    assert_eq!(queues.carry_out(vec![op(id, send("1")), back]).unwrap_err().kind(), ErrorKind::StaleReceipt);
    assert_eq!(queue.stats().unwrap().sent, 1);
    // Times that no clock comes to are the last ones.
    queues.carry_out(vec![op(id, send("1"))]).unwrap();
    assert_eq!(queue.stats().unwrap().hidden, 1);
}

/// Messages go to another store and back as they stand: ready, shown again, held, delayed, with keys and errors.
#[test]
fn messages_are_listed_and_restored_with_their_history() {
    let tables = PostgresTables::options().schema(schema()).connect(&server()).unwrap();
    let queue = numbers(&tables);
    let list = |queue: &Queue<u64>| {
        let mut all = Vec::new();
        queue
            .stored(|message| {
                all.push(message);
                Ok(ControlFlow::Continue(()))
            })
            .unwrap();
        all
    };
    assert!(list(&queue).is_empty());
    queue.send_all(&(0..450).collect::<Vec<u64>>()).unwrap();
    queue.send_after(&1_000, LONG).unwrap();
    assert!(queue.send_unique("only", &1_001).unwrap());
    queue.message(&1_002).time_to_live(Duration::from_millis(1)).send().unwrap();
    next(&queue).fail("it is \0 broken", LONG).unwrap();
    let _held = next(&queue);
    next(&queue).release(Duration::ZERO).unwrap();
    thread::sleep(Duration::from_millis(5));

    let all = list(&queue);
    let texts: Vec<_> = all.iter().map(|message| message.text.parse::<u64>().unwrap()).collect();
    // What was given back is behind those that are ready; what is over is left out.
    assert_eq!(texts, (3..450).chain([1_001, 2, 1_000, 0, 1]).collect::<Vec<_>>());
    let of = |number: u64| all.iter().find(|message| *message.text == *number.to_string()).unwrap();
    assert_eq!((of(0).count, of(0).error.as_deref()), (1, Some("it is \u{fffd} broken")));
    assert_eq!((of(1).count, of(1).error.as_deref()), (1, None));
    assert_eq!(of(1_001).unique.as_deref(), Some("only"));
    assert!([0, 1, 1_000].iter().all(|number| of(*number).hidden_until.is_some()));
    assert!(of(2).hidden_until.is_none() && of(2).count == 1 && of(2).expires.is_none());
    let mut some = 0;
    queue
        .stored(|_| {
            some += 1;
            Ok(if some == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })
        .unwrap();
    assert_eq!(some, 3);

    // There, and back into another queue.
    let embedded = Store::temporary().unwrap();
    let there = embedded.queue::<u64>("numbers").unwrap();
    assert_eq!(there.restore(&all).unwrap(), all.len());
    let back = tables.queue::<u64>("back").unwrap();
    assert_eq!(back.restore(&list(&there)).unwrap(), all.len());
    let shown = |message: &StoredMessage| {
        let StoredMessage { text, sent, count, error, unique, hidden_until, .. } = message;
        (text.clone(), *sent, *count, error.clone(), unique.clone(), hidden_until.is_some())
    };
    let sorted = |all: &[StoredMessage]| {
        let mut all: Vec<_> = all.iter().map(shown).collect();
        all.sort();
        all
    };
    assert_eq!(sorted(&list(&back)), sorted(&all));
    // Its key is taken.
    assert_eq!(back.restore(std::slice::from_ref(of(1_001))).unwrap(), 0);

    tables.drop_queue("back").unwrap();
    let gone = back.stored(|_| Ok(ControlFlow::Continue(()))).unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::QueueNotFound, "{gone}");
}
