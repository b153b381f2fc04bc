//! The text of a new file of ours. What a kind's keys are is known by the module that owns the kind.

use serde_json::{Map, Value};

use super::file::API_VERSION;
use crate::yaml::spell::{self, Layout};

/// What keeps Argo CD from taking a file for a manifest where it finds it in a folder of plain manifests. It looks for these
/// letters anywhere in each file whose name ends in `.yaml`, `.yml` or `.json`.
const NOT_RENDERED: &str = "# +argocd:skip-file-rendering";

const LAYOUT: Layout = Layout { step: 2, indent_lists: true };

/// A file of that kind with these keys, in this order.
pub fn written<'k>(kind: &str, keys: impl IntoIterator<Item = (&'k str, Value)>) -> String {
    let head = [("apiVersion", API_VERSION.into()), ("kind", kind.into())];
    let keys = head.into_iter().chain(keys).map(|(key, value)| (key.to_owned(), value));
    let file = Value::Object(keys.collect::<Map<_, _>>());
    format!("{NOT_RENDERED}\n{}\n", spell::block(&file, 0, LAYOUT, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_tells_argo_cd_to_pass_it_over_and_then_what_it_is() {
        let text = written("Thing", [("name", "thing".into()), ("list", vec!["a"].into())]);
        assert_eq!(
            text,
            "# +argocd:skip-file-rendering\napiVersion: overlay/v1\nkind: Thing\nname: thing\nlist:\n  - a\n"
        );
    }
}
