//! The proof that a result differs from its base by what patches claim, and by nothing else.
//!
//! | module | what it is for |
//! |---|---|
//! | [`claims`] | what a patch claims, as plain data |
//! | [`attribute`] | every difference to the one patch that claims it, and every claim to the differences that it makes |
//! | `bytes`, `extent` | outside the lines of what patches take out and bring, base and result are the same bytes |
//! | `beside` | which lines without content may go, move or come beside those |
//! | `inner` | the same for the lines of an embedded text |
//! | `lines` | the lines of a departure as a reader points at them |
//! | [`overlay`] | all of it for one overlay, as a report |
//! | [`against`] | what is said of a file from elsewhere, held against an overlay |
//! | [`page`] | base, result and a file side by side, with the lines of each departure |
//! | [`annotate`] | the result with a comment at each departure |
//! | [`changes`] | the documents that are not as upstream has them, with the patch of each difference |
//! | [`rendered`] | the committed result, held against the build |
//! | [`online`] | what registries say of the images that a result pins |
//!
//! Nothing here calls what applied the patches (`patch::lower`, `patch::apply`, `yaml::edit`, `change`): claims are
//! carried out once more, on a tree of their own that remembers where each part of it comes from, and base and result
//! are compared by `diff`, which knows of no claims.

pub mod against;
pub mod annotate;
pub mod attribute;
mod base;
mod beside;
mod bytes;
pub mod changes;
pub mod claims;
mod extent;
mod images;
mod inner;
mod items;
mod lines;
pub mod live;
pub mod online;
pub mod overlay;
pub mod page;
mod patches;
mod reading;
mod release;
pub mod rendered;
mod shadow;
mod split;
#[cfg(test)]
mod tests;
