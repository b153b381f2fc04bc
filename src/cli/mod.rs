//! The edge: arguments, the terminal, the environment, the current folder. Each command is one file with its arguments
//! and its run; what they share of the terminal is in `terminal`, and how a run ends in `end`. What a command does is
//! done below, by parts that know nothing of any of this.

pub mod build;
pub mod diff;
pub mod end;
pub mod explain;
pub mod terminal;
pub mod vendor;
pub mod verify;
