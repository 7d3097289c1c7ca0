pub fn batches(_: &[&str]) {}
