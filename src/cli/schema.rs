//! `overlay schema`: the JSON Schemas of our files.

use std::path::Path;

use clap::{Args, ValueEnum};

use super::Context;
use super::end::{End, Failure};
use crate::config::Findings;
use crate::diag::Diagnostic;
use crate::diag::visible::visible;
use crate::fsio::{self, Write};
use crate::layer::root::{Located, Root};
use crate::schema::{FOLDER, Schema};

/// Print the JSON Schema of a kind of file, for editors
///
/// Editors with the YAML language server complete and check a file whose first line names its schema:
/// `# yaml-language-server: $schema=../../../.overlay/schemas/patch.json`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  overlay schema Patch            print the schema of a patch
  overlay schema --write          put all of them where our files name them: .overlay/schemas")]
pub struct SchemaArgs {
    /// The kind
    #[arg(value_name = "KIND", value_enum, ignore_case = true, required_unless_present = "write")]
    pub kind: Option<Kind>,
    /// Write the schemas of all kinds into .overlay/schemas at the root, anew where they are there
    #[arg(long, conflicts_with = "kind")]
    pub write: bool,
}

/// A kind that has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// base.yaml
    #[value(name = "Base")]
    Base,
    /// overlay.yaml
    #[value(name = "Overlay")]
    Overlay,
    /// A patch
    #[value(name = "Patch")]
    Patch,
    /// base.lock
    #[value(name = "Lock")]
    Lock,
}

impl From<Kind> for Schema {
    fn from(kind: Kind) -> Schema {
        match kind {
            Kind::Base => Schema::Base,
            Kind::Overlay => Schema::Overlay,
            Kind::Patch => Schema::Patch,
            Kind::Lock => Schema::Lock,
        }
    }
}

/// Prints a schema, or writes all.
pub fn run(args: &SchemaArgs, context: &mut Context) -> Result<End, Failure> {
    if let Some(kind) = args.kind {
        context.terminal.product(Schema::from(kind).text().as_bytes())?;
        return Ok(End::Clean);
    }
    let root = Root::find(Path::new("."), context.root.as_deref(), &context.current()?)?;
    let mut findings = Findings::new();
    let located: Vec<_> = Schema::ALL.iter().filter_map(|schema| findings.keep(place(&root, *schema))).collect();
    if findings.has_errors() {
        return Ok(context.stop(findings));
    }
    let writes = located.iter().zip(Schema::ALL);
    let writes = writes.map(|(file, schema)| Write { path: file.path.clone(), bytes: schema.text().as_bytes() });
    fsio::commit(&writes.collect::<Vec<_>>(), &[])?;
    let folder = visible(&root.show(&root.path().join(FOLDER))).into_owned();
    context.terminal.aside(&format!("wrote {} schemas into {folder}\n", Schema::ALL.len()));
    Ok(End::Clean)
}

/// Where a schema is kept: below the root, whatever links say.
pub(super) fn place(root: &Root, schema: Schema) -> Result<Located, Box<Diagnostic>> {
    let path = format!("{FOLDER}/{}", schema.file_name());
    root.resolve_to_come(root.path(), &path).map_err(|error| Box::new(error.diagnose(None)))
}
