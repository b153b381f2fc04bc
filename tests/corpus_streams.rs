//! Cuts and reads every manifest of the corpus.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may read files, and fail")]

mod support;

use overlay::yaml::load::load_text;
use overlay::yaml::stream;

/// The manifest as it could stand in other repositories.
fn variants(text: &str) -> [String; 4] {
    let unix = text.replace("\r\n", "\n");
    let crlf = unix.replace('\n', "\r\n");
    [unix.trim_end_matches('\n').to_owned(), format!("\u{feff}{unix}"), crlf, unix]
}

#[test]
fn every_manifest_is_its_pieces_and_every_piece_is_read() {
    for (name, text) in support::manifests() {
        let mut readings = Vec::new();
        for text in variants(&text) {
            let pieces = stream::split(&text);
            let whole: String = pieces.iter().map(|piece| piece.text(&text)).collect();
            assert!(whole == text, "{name}: the pieces are not the text");
            let read = |piece: &stream::Piece| load_text(piece.text(&text)).unwrap_or_else(|e| panic!("{name}: {e}"));
            let values: Vec<_> = pieces.iter().filter(|piece| piece.content).map(|piece| read(piece).value).collect();
            readings.push(values);
        }
        assert!(!readings[0].is_empty(), "{name}");
        assert!(readings.iter().all(|reading| *reading == readings[0]), "{name}: a variant reads differently");
    }
}
