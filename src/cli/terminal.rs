//! The two streams that a command writes to: the product on standard output, everything else on standard error.

use std::io::{self, Write};

use super::end::Failure;
use crate::diag::Diagnostic;
use crate::diag::render::{self, Dress};

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ColorWhen {
    /// On a terminal, as `NO_COLOR`, `CLICOLOR` and `CLICOLOR_FORCE` have it.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl ColorWhen {
    /// The dress for a stream of which [`anstream`] says whether it takes colour.
    fn dress(self, detected: anstream::ColorChoice) -> Dress {
        match self {
            ColorWhen::Never => Dress::Plain,
            ColorWhen::Auto if detected == anstream::ColorChoice::Never => Dress::Plain,
            ColorWhen::Always | ColorWhen::Auto => Dress::Coloured,
        }
    }
}

/// Where a command writes, and how each stream is dressed.
pub struct Terminal<'s> {
    product: Box<dyn Write + 's>,
    aside: Box<dyn Write + 's>,
    product_dress: Dress,
    aside_dress: Dress,
    reader_left: bool,
}

impl Terminal<'static> {
    /// The streams of this process.
    pub fn of_process(color: ColorWhen) -> Terminal<'static> {
        let (product, aside) = (io::stdout(), io::stderr());
        let product_dress = color.dress(anstream::AutoStream::choice(&product));
        let aside_dress = color.dress(anstream::AutoStream::choice(&aside));
        Terminal::new(Box::new(product), Box::new(aside), product_dress, aside_dress)
    }
}

impl<'s> Terminal<'s> {
    /// Streams that are handed in.
    pub fn new(
        product: Box<dyn Write + 's>,
        aside: Box<dyn Write + 's>,
        product_dress: Dress,
        aside_dress: Dress,
    ) -> Terminal<'s> {
        Terminal { product, aside, product_dress, aside_dress, reader_left: false }
    }

    /// How text of the product is dressed.
    pub fn product_dress(&self) -> Dress {
        self.product_dress
    }

    /// Prints the product, or a part of it. A reader that has left takes nothing away from the run.
    pub fn product(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if self.reader_left {
            return Ok(());
        }
        match self.product.write_all(bytes).and_then(|()| self.product.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.reader_left = true;
                Ok(())
            }
            written => written.map_err(Failure::Output),
        }
    }

    /// Says something beside the product. Where that cannot be written there is nobody to tell.
    pub fn aside(&mut self, text: &str) {
        let _ = self.aside.write_all(text.as_bytes()).and_then(|()| self.aside.flush());
    }

    /// Tells findings beside the product, in full.
    pub fn findings(&mut self, findings: &[Diagnostic]) {
        let texts: Vec<String> = findings.iter().map(|finding| render::full(finding, self.aside_dress)).collect();
        self.aside(&texts.join("\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Code;

    struct Fails(io::ErrorKind);

    impl Write for Fails {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn failing(kind: io::ErrorKind) -> Terminal<'static> {
        Terminal::new(Box::new(Fails(kind)), Box::new(Fails(kind)), Dress::Plain, Dress::Plain)
    }

    #[test]
    fn a_reader_that_leaves_is_no_failure_and_a_full_disk_is_one() {
        let mut left = failing(io::ErrorKind::BrokenPipe);
        assert!(left.product(b"a").is_ok() && left.product(b"b").is_ok());
        left.aside("nobody hears this");
        let full = failing(io::ErrorKind::StorageFull).product(b"a").unwrap_err();
        assert!(full.told().starts_with("error: standard output cannot be written: "), "{}", full.told());
    }

    #[test]
    fn product_and_asides_keep_apart() {
        let (mut product, mut aside) = (Vec::new(), Vec::new());
        let mut terminal = Terminal::new(Box::new(&mut product), Box::new(&mut aside), Dress::Plain, Dress::Plain);
        terminal.product(b"kind: A\r\n").unwrap();
        terminal.findings(&[Diagnostic::new(Code::Syntax, "one"), Diagnostic::new(Code::Syntax, "two")]);
        drop(terminal);
        assert_eq!(product, b"kind: A\r\n");
        assert_eq!(String::from_utf8(aside).unwrap(), "error[syntax]: one\n\nerror[syntax]: two\n");
    }

    #[test]
    fn what_is_asked_for_goes_before_what_is_detected() {
        use anstream::ColorChoice::{Always, AlwaysAnsi, Never};
        assert_eq!(ColorWhen::Always.dress(Never), Dress::Coloured);
        assert_eq!(ColorWhen::Never.dress(Always), Dress::Plain);
        assert_eq!(ColorWhen::Auto.dress(Never), Dress::Plain);
        assert_eq!(ColorWhen::Auto.dress(AlwaysAnsi), Dress::Coloured);
    }
}
