//! The few colours of a report, each for one meaning, so that a report reads the same without them.

use anstyle::{AnsiColor, Style};

use crate::diag::render::Dress;

/// Dresses pieces of text.
#[derive(Clone, Copy)]
pub(super) struct Paint(pub(super) Dress);

impl Paint {
    /// A name that the eye looks for.
    pub(super) fn name(self, text: &str) -> String {
        self.dress(Style::new().bold(), text)
    }

    /// What matters less.
    pub(super) fn quiet(self, text: &str) -> String {
        self.dress(Style::new().dimmed(), text)
    }

    /// What is there now, or is as it should be.
    pub(super) fn good(self, text: &str) -> String {
        self.dress(AnsiColor::Green.on_default(), text)
    }

    /// What is gone.
    pub(super) fn gone(self, text: &str) -> String {
        self.dress(AnsiColor::Red.on_default(), text)
    }

    /// What is another.
    pub(super) fn changed(self, text: &str) -> String {
        self.dress(AnsiColor::Yellow.on_default(), text)
    }

    /// What must not be overlooked.
    pub(super) fn loud(self, text: &str) -> String {
        self.dress(AnsiColor::Red.on_default().bold(), text)
    }

    fn dress(self, style: Style, text: &str) -> String {
        match self.0 {
            Dress::Plain => text.to_owned(),
            Dress::Coloured => format!("{style}{text}{style:#}"),
        }
    }
}
