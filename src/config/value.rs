//! Values that a file of ours carries for somebody else: what a patch writes into a document.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::Findings;
use super::view::View;
use crate::diag::{Code, Diagnostic};
use crate::yaml::scalar::{self, ScalarError};
use crate::yaml::tree::{Kind, Style};

impl View<'_> {
    /// The value that stands there, read as Kubernetes reads it.
    ///
    /// Every bare scalar in it, keys too, that other readers would take for something else is an `ambiguous-scalar`
    /// finding. Anchors, aliases, tags and merge keys have been told by [`File::top`](super::File::top).
    pub fn value(&self, findings: &mut Findings) -> Option<Value> {
        let node = self.file().tree().node(self.node());
        match &node.kind {
            Kind::Alias { .. } => None,
            Kind::Scalar { style, text } => {
                self.check_alike(*style, text, findings)?;
                self.or_told(scalar::resolve(text, *style, None), findings)
            }
            Kind::Sequence { .. } => {
                let items = self.items(findings)?;
                let values: Vec<Option<Value>> = items.iter().map(|item| item.value(findings)).collect();
                values.into_iter().collect::<Option<Vec<Value>>>().map(Value::Array)
            }
            Kind::Mapping { entries, .. } => {
                let pairs: Vec<Option<(String, Value)>> = entries
                    .iter()
                    .map(|entry| {
                        let key = self.beside(entry.key).mapping_key(findings);
                        let value = self.beside(entry.value).value(findings);
                        Some((key?, value?))
                    })
                    .collect();
                pairs.into_iter().collect::<Option<Map<String, Value>>>().map(Value::Object)
            }
        }
    }

    fn mapping_key(&self, findings: &mut Findings) -> Option<String> {
        let node = self.file().tree().node(self.node());
        let Kind::Scalar { style, text } = &node.kind else { return None };
        self.check_alike(*style, text, findings)?;
        self.or_told(scalar::key(text, *style, None), findings).map(Cow::into_owned)
    }

    /// `None` and a finding where a bare scalar is not the same to all readers.
    pub(super) fn check_alike(&self, style: Style, text: &str, findings: &mut Findings) -> Option<()> {
        if style != Style::Plain {
            return Some(());
        }
        let Some(ambiguity) = scalar::ambiguous(text) else { return Some(()) };
        let instead = match ambiguity.plain() {
            Some(plain) => format!("write `{plain}`, or `\"{text}\"` if the text is meant"),
            None => format!("write `\"{text}\"`"),
        };
        findings.add(
            Diagnostic::new(Code::AmbiguousScalar, format!("`{text}` is not read alike by all readers of YAML"))
                .at(self.place(), instead)
                .note(format!("{ambiguity}.")),
        );
        None
    }

    fn or_told<T>(&self, read: Result<T, ScalarError>, findings: &mut Findings) -> Option<T> {
        read.map_err(|error| findings.add(self.file().syntax(error.to_string(), self.span(), "in this value"))).ok()
    }
}
