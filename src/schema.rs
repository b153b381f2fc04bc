//! The JSON Schemas (draft 7) of the files that people write, for editors to complete and check them with. They are
//! kept as files under `schemas/`; the readers in `layer` and `patch` are what decides, and `tests/schemas.rs` holds
//! the two together.
//!
//! Nothing here touches the disk. A schema says less than its reader where YAML's bare scalars are concerned: a text
//! field takes what a JSON reader sees as a number.

use std::fmt;

/// The folder of a repository that holds the schemas which its files name, relative to the root.
pub const FOLDER: &str = ".overlay/schemas";

/// A kind of file that has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schema {
    /// `base.yaml`.
    Base,
    /// `overlay.yaml`.
    Overlay,
    /// A patch.
    Patch,
    /// `base.lock`.
    Lock,
}

impl Schema {
    /// Every schema.
    pub const ALL: [Schema; 4] = [Schema::Base, Schema::Overlay, Schema::Patch, Schema::Lock];

    /// Its text: a JSON document.
    pub fn text(self) -> &'static str {
        match self {
            Schema::Base => include_str!("../schemas/base.json"),
            Schema::Overlay => include_str!("../schemas/overlay.json"),
            Schema::Patch => include_str!("../schemas/patch.json"),
            Schema::Lock => include_str!("../schemas/lock.json"),
        }
    }

    /// The name of its file.
    pub fn file_name(self) -> &'static str {
        match self {
            Schema::Base => "base.json",
            Schema::Overlay => "overlay.json",
            Schema::Patch => "patch.json",
            Schema::Lock => "lock.json",
        }
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Schema::Base => "Base",
            Schema::Overlay => "Overlay",
            Schema::Patch => "Patch",
            Schema::Lock => "Lock",
        })
    }
}
