//! Which documents of two streams belong together.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Difference, Languages, Path, What, diff_values};
use crate::embedded::Language;
use crate::resource::Identity;

/// A document of a stream.
#[derive(Clone, Debug)]
pub struct Document<'v> {
    /// Its identity.
    pub identity: Identity,
    /// What it says.
    pub value: &'v Value,
}

/// A document that is known to be called otherwise after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rename {
    /// The document's index before.
    pub before: usize,
    /// Its identity after.
    pub after: Identity,
}

/// A document before and its fellow after, and how they differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Pairing {
    /// The index before; `None` for a document that is new.
    pub before: Option<usize>,
    /// The index after; `None` for a document that is gone.
    pub after: Option<usize>,
    /// The differences; none where the documents say the same. A document that is new or gone is one difference at
    /// the empty path.
    pub differences: Vec<Difference>,
}

/// The differences between two streams: a pairing for every document, in the order of [`pair_documents`].
/// `languages` is asked with the document's index before.
pub fn diff_streams(
    before: &[Document<'_>],
    after: &[Document<'_>],
    renames: &[Rename],
    languages: &dyn Fn(usize, &[super::At<'_>]) -> Option<Language>,
) -> Vec<Pairing> {
    let differences = |pair: (Option<usize>, Option<usize>)| {
        let old = pair.0.and_then(|index| Some((index, before.get(index)?)));
        let new = pair.1.and_then(|index| after.get(index));
        match (old, new) {
            (Some((index, old)), Some(new)) => {
                let here: Languages<'_> = &|at| languages(index, at);
                diff_values(old.value, new.value, here)
            }
            (Some((_, old)), None) => whole(What::Removed(old.value.clone())),
            (None, Some(new)) => whole(What::Added(new.value.clone())),
            (None, None) => Vec::new(),
        }
    };
    let pairs = pair_documents(before, after, renames).into_iter();
    pairs.map(|pair| Pairing { before: pair.0, after: pair.1, differences: differences(pair) }).collect()
}

/// Which documents belong together, by their indices: those of the stream before first, in order, then those that are
/// new.
///
/// Two do when a rename says so, when their identities are equal (several of one identity in order), and, where that
/// is unique among what is left over, when group, kind, namespace and name are equal, then kind, namespace and name,
/// then kind and name. The order of documents is not compared.
pub fn pair_documents(
    before: &[Document<'_>],
    after: &[Document<'_>],
    renames: &[Rename],
) -> Vec<(Option<usize>, Option<usize>)> {
    let mut partners = Partners::new(before, after);
    partners.renamed(renames);
    partners.equal();
    partners.by(|i| (&*i.group, &*i.kind, &*i.namespace, &*i.name));
    partners.by(|i| (&*i.kind, &*i.namespace, &*i.name));
    partners.by(|i| (&*i.kind, &*i.name));
    let old = partners.of_before.iter().enumerate().map(|(index, partner)| (Some(index), *partner));
    let new =
        partners.taken_after.iter().enumerate().filter(|(_, taken)| !**taken).map(|(index, _)| (None, Some(index)));
    old.chain(new).collect()
}

fn whole(what: What) -> Vec<Difference> {
    vec![Difference { path: Path::default(), within: None, what }]
}

struct Partners<'d, 'v> {
    before: &'d [Document<'v>],
    after: &'d [Document<'v>],
    of_before: Vec<Option<usize>>,
    taken_after: Vec<bool>,
}

impl<'d, 'v> Partners<'d, 'v> {
    fn new(before: &'d [Document<'v>], after: &'d [Document<'v>]) -> Self {
        let of_before = vec![None; before.len()];
        Partners { before, after, of_before, taken_after: vec![false; after.len()] }
    }

    fn pair(&mut self, before: usize, after: usize) {
        if let (Some(partner @ None), Some(taken @ false)) =
            (self.of_before.get_mut(before), self.taken_after.get_mut(after))
        {
            *partner = Some(after);
            *taken = true;
        }
    }

    /// What is left over of both sides, by a key of the identity, in order.
    fn left<K: Ord>(&self, key: impl Fn(&'d Identity) -> K) -> BTreeMap<K, (Vec<usize>, Vec<usize>)> {
        let mut found: BTreeMap<K, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        for (index, (document, partner)) in self.before.iter().zip(&self.of_before).enumerate() {
            if partner.is_none() {
                found.entry(key(&document.identity)).or_default().0.push(index);
            }
        }
        for (index, (document, taken)) in self.after.iter().zip(&self.taken_after).enumerate() {
            if !taken {
                found.entry(key(&document.identity)).or_default().1.push(index);
            }
        }
        found
    }

    fn renamed(&mut self, renames: &[Rename]) {
        for rename in renames {
            let mut after = self.after.iter().zip(&self.taken_after);
            if let Some(partner) = after.position(|(document, taken)| !taken && document.identity == rename.after) {
                self.pair(rename.before, partner);
            }
        }
    }

    fn equal(&mut self) {
        for (before, after) in self.left(|identity| identity).into_values() {
            for (before, after) in before.into_iter().zip(after) {
                self.pair(before, after);
            }
        }
    }

    /// Pairs documents with the same key, where one document of each side has it.
    fn by<K: Ord>(&mut self, key: impl Fn(&'d Identity) -> K) {
        for left in self.left(key).into_values() {
            if let ([before], [after]) = (left.0.as_slice(), left.1.as_slice()) {
                self.pair(*before, *after);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn documents(values: &[Value]) -> Vec<Document<'_>> {
        values.iter().map(|value| Document { identity: Identity::of(value), value }).collect()
    }

    fn document(api: &str, kind: &str, namespace: &str, name: &str) -> Value {
        json!({"apiVersion": api, "kind": kind, "metadata": {"namespace": namespace, "name": name}})
    }

    fn partners(before: &[Value], after: &[Value], renames: &[Rename]) -> Vec<(Option<usize>, Option<usize>)> {
        let pairings = diff_streams(&documents(before), &documents(after), renames, &|_, _| None);
        pairings.iter().map(|pairing| (pairing.before, pairing.after)).collect()
    }

    #[test]
    fn documents_are_found_by_identity_whatever_their_order() {
        let before = [document("v1", "Secret", "n", "a"), document("v1", "Secret", "n", "b")];
        let after = [document("v1", "Secret", "n", "b"), document("v1", "Secret", "m", "c")];
        assert_eq!(partners(&before, &after, &[]), [(Some(0), None), (Some(1), Some(0)), (None, Some(1))]);
        let gone = &diff_streams(&documents(&before), &[], &[], &|_, _| None)[0];
        assert_eq!(gone.differences, whole(What::Removed(before[0].clone())));
    }

    #[test]
    fn a_document_in_another_namespace_or_version_is_the_same_where_no_other_fits() {
        let before = [document("apps/v1beta1", "Deployment", "n", "a"), document("v1", "Secret", "n", "b")];
        let after = [document("v1", "Secret", "other", "b"), document("apps/v1", "Deployment", "n", "a")];
        assert_eq!(partners(&before, &after, &[]), [(Some(0), Some(1)), (Some(1), Some(0))]);
        let two = [document("v1", "Secret", "x", "b"), document("v1", "Secret", "y", "b")];
        assert_eq!(partners(&before[1..], &two, &[]), [(Some(0), None), (None, Some(0)), (None, Some(1))]);
    }

    #[test]
    fn a_rename_is_followed_even_to_the_old_name_of_another() {
        let before = [document("v1", "Secret", "n", "a"), document("v1", "Secret", "n", "b")];
        let after = [document("v1", "Secret", "n", "c"), document("v1", "Secret", "n", "b")];
        let renames = [
            Rename { before: 0, after: Identity::new("v1", "Secret", "n", "b") },
            Rename { before: 1, after: Identity::new("v1", "Secret", "n", "c") },
        ];
        assert_eq!(partners(&before, &after, &renames), [(Some(0), Some(1)), (Some(1), Some(0))]);
    }

    #[test]
    fn documents_of_one_identity_are_paired_in_order() {
        let one = document("v1", "Secret", "n", "a");
        let before = [one.clone(), one.clone()];
        assert_eq!(partners(&before, &before[..1], &[]), [(Some(0), Some(0)), (Some(1), None)]);
    }
}
