//! The pkt-line framing of git's protocols (gitprotocol-common(5)): four hexadecimal digits of length, themselves
//! counted, then the data; the lengths 0, 1 and 2 are marks.

use crate::diag::visible::shortened;

/// The largest packet, its length included (gitprotocol-common(5)).
const MAX_PACKET: usize = 65520;

/// One packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packet<'a> {
    /// Data, without the line feed that a line of text may end in.
    Data(&'a [u8]),
    /// `0000`: the end of a message.
    Flush,
    /// `0001`: the end of a section.
    Delimiter,
    /// `0002`: the end of an answer.
    End,
}

/// The packets of bytes, in order. After the first that is broken there are no more.
#[derive(Clone, Debug)]
pub(super) struct Packets<'a> {
    rest: &'a [u8],
}

impl<'a> Packets<'a> {
    /// The packets of these bytes.
    pub(super) fn of(bytes: &'a [u8]) -> Packets<'a> {
        Packets { rest: bytes }
    }

    fn take(&mut self) -> Result<Packet<'a>, String> {
        let broken = |what: &str| format!("{what}: \"{}\"", shortened(&String::from_utf8_lossy(self.rest), 40));
        let head = self.rest.get(..4).and_then(|digits| std::str::from_utf8(digits).ok());
        let head = head.filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        let length = head.and_then(|digits| usize::from_str_radix(digits, 16).ok());
        let (packet, length) = match length {
            Some(0) => (Packet::Flush, 4),
            Some(1) => (Packet::Delimiter, 4),
            Some(2) => (Packet::End, 4),
            Some(length @ 4..=MAX_PACKET) => {
                let data = self.rest.get(4..length).ok_or_else(|| broken("a packet is cut off"))?;
                (Packet::Data(data.strip_suffix(b"\n").unwrap_or(data)), length)
            }
            _ => return Err(broken("no packet length")),
        };
        self.rest = self.rest.get(length..).unwrap_or_default();
        Ok(packet)
    }
}

impl<'a> Iterator for Packets<'a> {
    type Item = Result<Packet<'a>, String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let packet = self.take();
        if packet.is_err() {
            self.rest = &[];
        }
        Some(packet)
    }
}

/// Adds a packet with that text. Texts here are of our own making and short; what would not fit is cut.
pub(super) fn push(out: &mut Vec<u8>, text: &str) {
    let data = text.as_bytes();
    let data = data.get(..MAX_PACKET - 4).unwrap_or(data);
    out.extend_from_slice(format!("{:04x}", data.len() + 4).as_bytes());
    out.extend_from_slice(data);
}

/// Adds a `0000`.
pub(super) fn push_flush(out: &mut Vec<u8>) {
    out.extend_from_slice(b"0000");
}

/// Adds a `0001`.
pub(super) fn push_delimiter(out: &mut Vec<u8>) {
    out.extend_from_slice(b"0001");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Vec<Result<Packet<'_>, String>> {
        Packets::of(bytes).collect()
    }

    #[test]
    fn what_is_written_is_read() {
        let mut bytes = Vec::new();
        push(&mut bytes, "version 2\n");
        push_delimiter(&mut bytes);
        push(&mut bytes, "");
        push_flush(&mut bytes);
        assert_eq!(bytes, b"000eversion 2\n000100040000");
        let expected =
            [Ok(Packet::Data(b"version 2")), Ok(Packet::Delimiter), Ok(Packet::Data(b"")), Ok(Packet::Flush)];
        assert_eq!(all(&bytes), expected);
        assert_eq!(all(b"0002"), [Ok(Packet::End)]);
    }

    #[test]
    fn broken_framing_ends_the_packets() {
        assert_eq!(all(b"0000zzzz0000"), [Ok(Packet::Flush), Err("no packet length: \"zzzz0000\"".into())]);
        assert_eq!(all(b"0003"), [Err("no packet length: \"0003\"".into())]);
        assert_eq!(all(b"+004"), [Err("no packet length: \"+004\"".into())]);
        assert_eq!(all(b"fff1x"), [Err("no packet length: \"fff1x\"".into())]);
        assert_eq!(all(b"00"), [Err("no packet length: \"00\"".into())]);
        assert_eq!(all(b"0009ab\xff\x1b"), [Err("a packet is cut off: \"0009ab\u{fffd}\\x1B\"".into())]);
        let page = all(b"<!DOCTYPE html>");
        assert_eq!(page, [Err("no packet length: \"<!DOCTYPE html>\"".into())]);
    }

    #[test]
    fn a_packet_is_as_long_as_the_limit() {
        let data = vec![b'x'; MAX_PACKET - 4];
        let packet = |length: usize| [format!("{length:04x}").as_bytes(), &vec![b'x'; length - 4]].concat();
        assert_eq!(all(&packet(MAX_PACKET)), [Ok(Packet::Data(&data))]);
        assert!(all(&packet(MAX_PACKET + 1))[0].as_ref().is_err_and(|why| why.starts_with("no packet length")));
    }

    #[test]
    fn every_cut_of_a_message_is_read_without_a_panic() {
        let message = b"001e# service=git-upload-pack\n00000009 abcd0001";
        for end in 0..message.len() {
            let packets = all(&message[..end]);
            assert!(packets.iter().rev().skip(1).all(Result::is_ok), "{end}");
        }
    }
}
