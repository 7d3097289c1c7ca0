//! `tables queues`, `peek`, `poison` and `requeue`.

use snapbox::str;

use crate::fixture::copy;
use crate::run::{on, on_company, same, to_people};

#[test]
fn queues_are_listed() {
    same(
        to_people(&["queues"]).shown(),
        str![[r#"
queue         ready  hidden  paused  oldest                        bytes  sent  completed  poisoned  expired
hires             3       0  false   <time>     87     5          0         2        0
hires-poison      2       0  false   <time>     58     2          0         0        0
payments          1       0  true    <time>      1     1          0         0        0
[0]

"#]],
    );
}

#[test]
fn messages_are_looked_at_and_left() {
    let looked = on_company(&["peek", "hires", "-n", "2"]).shown();
    same(
        looked.clone(),
        str![[r#"
{"id":3,"received":0,"sent":"<time>","expires":null,"message":{"department":"Legal","id":3},"last error":null}
{"id":4,"received":0,"sent":"<time>","expires":null,"message":{"department":"Legal","id":4},"last error":null}
[0]

"#]],
    );
    assert_eq!(on_company(&["peek", "hires", "-n", "2"]).shown(), looked);
    same(
        to_people(&["poison", "hires"]).shown(),
        str![[r#"
id  received  sent                          expires  message                        last error
 1         0  <time>           {"department":"Sales","id":1}  the badge printer is on fire
 2         0  <time>           {"department":"Sales","id":2}  the badge printer is on fire
[0]

"#]],
    );
    same(
        on_company(&["poison", "payments"]).shown(),
        str![[r#"
[0]

"#]],
    );
    same(
        on_company(&["peek", "nothing"]).shown(),
        str![[r#"
[3]
tables: there is no queue `nothing`; there are hires, hires-poison, payments

"#]],
    );
    assert_eq!(on_company(&["peek", "No Name"]).code, 1);
}

#[test]
fn what_was_set_aside_is_sent_back() {
    let (_directory, place) = copy();
    assert_eq!(on(place.store(), &["requeue", "hires"]).code, 2);
    let ran = on(place.store(), &["requeue", "hires", "--write", "-n", "1"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, "1 messages are back in the queue\n"));
    let ran = on(place.store(), &["requeue", "hires", "--write"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, "1 messages are back in the queue\n"));
    assert_eq!(on(place.store(), &["poison", "hires"]).out, "");
    same(
        on(place.store(), &["peek", "hires"]).shown(),
        str![[r#"
{"id":3,"received":0,"sent":"<time>","expires":null,"message":{"department":"Legal","id":3},"last error":null}
{"id":4,"received":0,"sent":"<time>","expires":null,"message":{"department":"Legal","id":4},"last error":null}
{"id":5,"received":0,"sent":"<time>","expires":null,"message":{"department":"Legal","id":5},"last error":null}
{"id":6,"received":0,"sent":"<time>","expires":null,"message":{"department":"Sales","id":1},"last error":null}
{"id":7,"received":0,"sent":"<time>","expires":null,"message":{"department":"Sales","id":2},"last error":null}
[0]

"#]],
    );
    let ran = on(place.store(), &["requeue", "payments", "--write"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, "0 messages are back in the queue\n"));
}
