//! Shapes and attributes through paths where the modules of neither go.

mod pairs;
