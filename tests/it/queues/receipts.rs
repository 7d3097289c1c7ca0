//! Receipts that are text in between, queues of plain text, and queues that are looked for.

use std::time::Duration;

use table_core::asynchronous::block_on;
use table_core::queue::PopReceipt;
use table_core::{ErrorKind, Store};

use super::{LONG, SHORT, hire, hires};

#[test]
fn a_receipt_is_good_in_another_process_until_somebody_else_has_the_message() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store");
    let store = Store::open(&path).unwrap();
    let queue = hires(&store);
    for id in 0..3 {
        queue.send(&hire(id)).unwrap();
    }
    let [kept, taken, given] =
        [(); 3].map(|()| queue.receive(LONG).unwrap().unwrap().pop_receipt().to_string());
    store.close().unwrap();

    let store = Store::open(&path).unwrap();
    let queue = hires(&store);
    let [kept, taken, given] = [kept, taken, given].map(|text| text.parse::<PopReceipt>().unwrap());
    let (renewed, until) = queue.update_by(&kept, Some(&hire(7)), SHORT).unwrap();
    assert!(until > renewed.sent);
    queue.release_by(&given, Duration::ZERO).unwrap();
    std::thread::sleep(SHORT * 2);
    // Time is over, and nobody has received it: the receipt is still good.
    queue.delete_by(&renewed).unwrap();
    let error = queue.delete_by(&renewed).unwrap_err();
    assert_eq!((error.kind(), error.queue_name()), (ErrorKind::MessageNotFound, Some("hires")));
    assert_eq!((error.code(), error.status()), ("MessageNotFound", 404));
    let again = queue.receive(LONG).unwrap().unwrap();
    assert_eq!((again.id, again.count()), (2, 2));
    let error = queue.update_by(&given, None, LONG).unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::StaleReceipt, "PopReceiptMismatch"));
    queue.delete_by(&taken).unwrap();
    // The receipt and the handle are two ways to one hold.
    queue.update_by(&again.pop_receipt(), None, LONG).unwrap();
    assert_eq!(again.delete().unwrap_err().kind(), ErrorKind::StaleReceipt);
    assert!(store.check().unwrap().problems.is_empty());
}

#[test]
fn a_sender_takes_a_message_back_that_nobody_has_received() {
    let store = Store::temporary().unwrap();
    let queue = hires(&store);
    for delay in [Duration::ZERO, LONG] {
        let posted = queue.message(&hire(1)).after(delay).post().unwrap().unwrap();
        assert_eq!(posted.expires, None);
        queue.delete_by(&posted.receipt).unwrap();
        let posted = queue.message(&hire(2)).after(delay).post().unwrap().unwrap();
        let (renewed, _) = queue.update_by(&posted.receipt, Some(&hire(3)), Duration::ZERO).unwrap();
        let received = queue.receive(LONG).unwrap().unwrap();
        assert_eq!((received.id, received.count()), (3, 1));
        assert_eq!(queue.delete_by(&renewed).unwrap_err().kind(), ErrorKind::StaleReceipt);
        received.delete().unwrap();
    }
    let posted = queue.message(&hire(4)).unique("4").time_to_live(SHORT).post().unwrap().unwrap();
    assert_eq!(queue.message(&hire(4)).unique("4").post().unwrap(), None);
    // Longer than a clock can say is for ever.
    let endless = queue.message(&hire(5)).time_to_live(Duration::MAX).post().unwrap().unwrap();
    assert_eq!(endless.expires, Some(table_core::Ticks::MAX));
    std::thread::sleep(SHORT * 2);
    assert_eq!(queue.delete_by(&posted.receipt).unwrap_err().kind(), ErrorKind::MessageNotFound);
    assert_eq!(
        queue.update_by(&endless.receipt, None, LONG * 1_000).unwrap_err().kind(),
        ErrorKind::ValueOutOfRange
    );
    assert!(store.check().unwrap().problems.is_empty());
}

#[test]
fn a_receipt_of_a_queue_that_was_dropped_is_none_of_the_next() {
    let store = Store::temporary().unwrap();
    let posted = hires(&store).message(&hire(1)).post().unwrap().unwrap();
    store.drop_queue("hires").unwrap();
    let queue = hires(&store);
    assert_eq!(queue.send(&hire(1)).unwrap(), 1, "numbers begin anew");
    assert_eq!(queue.delete_by(&posted.receipt).unwrap_err().kind(), ErrorKind::MessageNotFound);
    assert_eq!(queue.stats().unwrap().ready, 1);
}

#[test]
fn texts_and_values_share_a_queue() {
    let store = Store::temporary().unwrap();
    let (values, texts) = (hires(&store), hires(&store).into_text());
    values.send(&hire(1)).unwrap();
    let text = texts.receive(LONG).unwrap().unwrap();
    assert_eq!(*text, r#"{"department":"Sales","id":1}"#);
    texts.send(&r#"{"id": 2, "department": ""}"#.to_owned()).unwrap();
    assert_eq!(values.receive(LONG).unwrap().unwrap().id, 2);
    texts.send(&"no JSON".to_owned()).unwrap();
    assert_eq!(values.receive(LONG).unwrap_err().kind(), ErrorKind::SchemaMismatch);
    let whole = "x".repeat(64 << 10);
    texts.send(&whole).unwrap();
    assert_eq!(texts.peek(1).unwrap()[0].len(), whole.len());
    assert_eq!(texts.send(&(whole + "x")).unwrap_err().kind(), ErrorKind::MessageTooLarge);
}

#[test]
fn a_queue_is_found_without_being_made_and_made_once() {
    let store = Store::temporary().unwrap();
    assert!(store.find_queue::<u32>("numbers").unwrap().is_none());
    assert_eq!(store.queues().unwrap(), Vec::<String>::new());
    let made: Vec<bool> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|_| scope.spawn(|| store.create_queue::<u32>("numbers").unwrap().1)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(made.iter().filter(|is_new| **is_new).count(), 1);
    assert!(store.find_queue::<u32>("numbers").unwrap().is_some());
    for name in ["No", "a--b"] {
        assert_eq!(store.find_queue::<u32>(name).unwrap_err().kind(), ErrorKind::InvalidQueueName);
        assert_eq!(store.create_queue::<u32>(name).unwrap_err().kind(), ErrorKind::InvalidQueueName);
    }
}

#[test]
fn receipts_are_awaited() {
    block_on(async {
        let store = Store::temporary().unwrap().to_async();
        assert!(store.find_queue::<u32>("texts").await.unwrap().is_none());
        let (queue, is_new) = store.create_queue::<String>("texts").await.unwrap();
        assert!(is_new && store.find_queue::<u32>("texts").await.unwrap().is_some());
        let queue = queue.into_text();
        let text = "a".to_owned();
        let posted = queue.message(&text).post().await.unwrap().unwrap();
        let (receipt, _) = queue.update_by(&posted.receipt, None, Duration::ZERO).await.unwrap();
        queue.release_by(&receipt, Duration::ZERO).await.unwrap();
        let received = queue.try_receive(LONG).await.unwrap().unwrap();
        queue.delete_by(&received.pop_receipt()).await.unwrap();
        let error = queue.delete_by(&receipt).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::MessageNotFound);
    });
}
