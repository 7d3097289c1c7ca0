//! The sources and documents of the project itself: no store is opened.

mod architecture;
mod documents;
mod guide;
mod root;
mod suggestions;
