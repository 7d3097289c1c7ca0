//! Pieces of pages that are sent anew as they change, as server-sent events.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::channel::{Channel, Sender};

use super::super::views::{History, Studio};

/// How often a piece is made.
const EVERY: Duration = Duration::from_secs(1);
/// After how many pieces that were as the last one something is sent all the same: so that a reader who has gone is noticed.
const QUIET: u32 = 15;

/// Begins to send a piece, and returns what it is read from.
pub(super) fn send(studio: Arc<Studio>, page: String) -> Channel<Bytes> {
    let (sender, channel) = Channel::new(1);
    drop(tokio::spawn(keep_sending(sender, studio, page)));
    channel
}

async fn keep_sending(mut sender: Sender<Bytes>, studio: Arc<Studio>, page: String) {
    let (mut last, mut history, mut quiet) = (String::new(), History::default(), 0);
    loop {
        let (studio, name) = (Arc::clone(&studio), page.clone());
        let made = tokio::task::spawn_blocking(move || {
            let piece = studio.live(&name, &mut history);
            (piece, history)
        });
        let Ok((Some(piece), with_more)) = made.await else { return };
        history = with_more;
        let piece = piece.into_string();
        let event = if piece == last {
            quiet += 1;
            if quiet < QUIET { None } else { Some(":\n\n".to_owned()) }
        } else {
            // Each of these ends a line of an event.
            let event =
                format!("data: {}\n\n", piece.replace("\r\n", "\n").replace(['\n', '\r'], "\ndata: "));
            last = piece;
            Some(event)
        };
        if let Some(event) = event {
            quiet = 0;
            if sender.send_data(Bytes::from(event)).await.is_err() {
                return;
            }
        }
        tokio::time::sleep(EVERY).await;
    }
}
