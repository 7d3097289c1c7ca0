//! What an access does not permit is refused, awaited as well.

use std::time::{Duration, Instant};

use integration_tests::Scratch;
use table_core::access::Access;
use table_core::asynchronous::{AsyncQueue, block_on};
use table_core::{ErrorKind, Result};

use super::{LONG, numbers, settled};
use crate::awaited::steps::polled;

fn refused<T>(done: Result<T>) {
    assert_eq!(done.err().expect("it is refused").kind(), ErrorKind::NotPermitted);
}

#[test]
fn an_access_limits_what_is_asked_of_queues() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let all = numbers(&store);
    let access = |access: Access| store.restricted(&access.queues(["numbers"])).to_async();
    block_on(async {
        let sending: AsyncQueue<u32> = access(Access::to_table("Company").add()).queue("numbers").await?;
        sending.send(&1).await?;
        refused(sending.try_receive(LONG).await);
        refused(sending.receive(LONG).await);
        refused(sending.peek(1).await);
        refused(sending.pause().await);
        refused(sending.clear().await);
        let receiving: AsyncQueue<u32> =
            access(Access::to_table("Company").read().delete()).queue("numbers").await?;
        refused(receiving.send(&2).await);
        refused(access(Access::to_all_tables().everything()).queue::<u32>("others").await);
        assert_eq!(all.stats().await?.sent, 1);
        // What a dropped receive would have got is given back under the same access.
        if let Some(received) = polled(receiving.receive(LONG), 1, true) {
            // The store was as quick as the poll.
            received?.release(Duration::ZERO).await?;
        }
        settled(&all, |stats| stats.ready == 1);
        let mut one = receiving.receive(LONG).await?;
        assert_eq!(**one, 1);
        refused(one.update(2, LONG).await);
        one.delete().await?;
        // A restricted handle is woken, too.
        let sender = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            let sent = Instant::now();
            block_on(sending.send(&3)).unwrap();
            sent
        });
        assert_eq!(**receiving.receive(LONG).await?, 3);
        assert!(sender.join().unwrap().elapsed() < Duration::from_secs(30));
        Ok::<_, table_core::Error>(())
    })
    .unwrap();
}
