//! What the commands that fetch take from the command line, from the person's configuration and from the environment,
//! and the [`Network`] that comes of it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use super::Context;
use super::end::Failure;
use super::progress::Line;
use crate::config::{self, File, Findings, Form, View};
use crate::diag::Diagnostic;
use crate::fetch::{self, Job, Network};
use crate::fsio::{self, FsError};
use crate::layer::vendor::Fetched;
use crate::source::credentials::Environment;
use crate::source::http::{Http, Mirror, MirrorError, Settings};

/// The person's configuration, below `XDG_CONFIG_HOME` or `~/.config`.
const CONFIG: &str = "overlay/config.yaml";

const FORM: Form = Form::new("Config");

/// How the network is used.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
#[command(next_help_heading = "Network")]
pub struct NetworkArgs {
    /// Fetch what is at the address FROM, or below it, from TO
    #[arg(long, value_name = "FROM=TO", value_parser = mirror)]
    pub mirror: Vec<Mirror>,
    /// Trust the authorities in this PEM file too
    #[arg(long, value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
    /// How long one file or image may take, with all tries and waits [default: 120]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub timeout: Option<u32>,
    /// Read mirrors and authorities from this file [default: ~/.config/overlay/config.yaml]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

fn mirror(text: &str) -> Result<Mirror, String> {
    Mirror::parse(text).map_err(|error| error.to_string())
}

/// What a configuration file says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Config {
    mirrors: Vec<Mirror>,
    /// A file of certificates, relative to the configuration's folder.
    ca_file: Option<PathBuf>,
}

impl NetworkArgs {
    /// The network as it is to be used. `None` where the configuration is wrong, which the findings tell.
    pub fn open(&self, context: &Context, findings: &mut Findings) -> Result<Option<Network>, Failure> {
        let variable = |name: &str| context.variable(name);
        let current = context.current()?;
        let Some(config) = self.config(&current, &variable, findings)? else { return Ok(None) };
        let environment = Environment::read(&variable)?;
        let ca_file = self.ca_file.as_ref().map(|file| current.join(file)).or(config.ca_file);
        let ca = ca_file.map(|file| fsio::read(&file, fsio::MAX_FILE)).transpose()?;
        let standard = Settings::default();
        let timeout = self.timeout.map_or(standard.timeout, |seconds| Duration::from_secs(seconds.into()));
        let settings = Settings {
            ca,
            proxies: environment.proxies.clone(),
            timeout,
            idle: standard.idle.min(timeout),
            mirrors: self.mirror.iter().cloned().chain(config.mirrors).collect(),
            ..standard
        };
        let http = Http::new(settings).map_err(Failure::Network)?;
        Ok(Some(Network { http, environment }))
    }

    fn config(
        &self,
        current: &Path,
        variable: &dyn Fn(&str) -> Option<OsString>,
        findings: &mut Findings,
    ) -> Result<Option<Config>, Failure> {
        let (path, name) = match &self.config {
            Some(file) => (current.join(file), file.to_string_lossy().into_owned()),
            None => match own_config(variable) {
                Some(path) => (path.clone(), path.to_string_lossy().into_owned()),
                None => return Ok(Some(Config::default())),
            },
        };
        let bytes = match fsio::read(&path, fsio::MAX_FILE) {
            Err(FsError::Missing { .. }) if self.config.is_none() => return Ok(Some(Config::default())),
            read => read.map_err(|error| error.named(&name))?,
        };
        let config = read_config(&name, &bytes, findings);
        let folder = path.parent().unwrap_or(current);
        Ok(config.map(|c| Config { ca_file: c.ca_file.map(|file| folder.join(file)), ..c }))
    }
}

/// Where the person's configuration would be.
fn own_config(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let folder = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let configs = folder("XDG_CONFIG_HOME").or_else(|| folder("HOME").map(|home| home.join(".config")));
    configs.map(|configs| configs.join(CONFIG))
}

fn read_config(name: &str, bytes: &[u8], findings: &mut Findings) -> Option<Config> {
    let source = findings.keep(config::source(name, bytes.to_vec()))?;
    let file = findings.keep(File::open(&source, FORM))?;
    let before = findings.errors();
    let top = file.top(&["mirrors", "caFile"], findings)?;
    let mirrors = top.get("mirrors").and_then(|view| view.items(findings)).unwrap_or_default();
    let mirrors = mirrors.into_iter().filter_map(|view| read_mirror(view, findings)).collect();
    let ca_file = top.given("caFile").and_then(|view| view.text(findings)).map(|text| PathBuf::from(text.value));
    (findings.errors() == before).then_some(Config { mirrors, ca_file })
}

fn read_mirror(view: View<'_>, findings: &mut Findings) -> Option<Mirror> {
    let fields = view.fields("a mirror", &["from", "to"], findings)?;
    let from = fields.require("from", findings).and_then(|v| v.text(findings));
    let to = fields.require("to", findings).and_then(|v| v.text(findings));
    let (from, to) = (from?, to?);
    let mirror = Mirror::new(&from.value, &to.value).map_err(|error| {
        let span = match &error {
            MirrorError::From(_) => from.span,
            MirrorError::To(_) => to.span,
        };
        Box::new(view.file().syntax(error.to_string(), span, "this address"))
    });
    findings.keep(mirror)
}

/// Fetches files, and shows on a terminal how far that has come.
pub fn fetch_all(network: Option<&Network>, jobs: &[Job<'_>]) -> Vec<Result<Fetched, Box<Diagnostic>>> {
    let line = Line::new(jobs.len());
    fetch::all(network, jobs, &|file, progress| line.tell(file, progress))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Place;

    const HEAD: &str = "apiVersion: overlay/v1\nkind: Config\n";

    fn read(rest: &str) -> Result<Config, Vec<String>> {
        let mut findings = Findings::new();
        read_config("c.yaml", format!("{HEAD}{rest}").as_bytes(), &mut findings).ok_or_else(|| {
            let told =
                |d: &Diagnostic| format!("{} {}: {}", d.place.as_ref().map_or(0, Place::line), d.code, d.message);
            findings.iter().map(told).collect()
        })
    }

    #[test]
    fn a_configuration_names_mirrors_and_authorities() {
        let config =
            read("mirrors:\n  - {from: 'https://a.example', to: 'https://m.example/a'}\ncaFile: ca.pem\n").unwrap();
        assert_eq!(config.mirrors, [Mirror::parse("https://a.example=https://m.example/a").unwrap()]);
        assert_eq!(config.ca_file, Some(PathBuf::from("ca.pem")));
        assert_eq!(read("").unwrap(), Config::default());
    }

    #[test]
    fn what_is_wrong_in_a_configuration_is_told_with_its_line() {
        assert_eq!(
            read("mirrors:\n  - {from: a.example, to: 'https://m.example'}\nproxy: x\n").unwrap_err(),
            [
                "5 unknown-key: the kind Config has no key `proxy`",
                "4 syntax: a.example: a mirror's first address begins with https:// or http://"
            ]
        );
        assert_eq!(
            read(
                "mirrors:\n  - {from: 'https://a.example', to: 'http://m.example'}\n  - {from: 'https://b.example'}\n"
            )
            .unwrap_err(),
            [
                "4 syntax: http://m.example: only https is fetched (http is for this machine alone)",
                "5 syntax: the key `to` is missing in a mirror"
            ]
        );
    }

    #[test]
    fn the_address_of_a_mirror_that_is_wrong_is_pointed_at() {
        let column = |from: &str, to: &str| {
            let mut findings = Findings::new();
            let text = format!("{HEAD}mirrors:\n  - from: {from}\n    to: {to}\n");
            assert!(read_config("c.yaml", text.as_bytes(), &mut findings).is_none());
            let place = findings.iter().next().unwrap().place.clone().unwrap();
            place.line()
        };
        assert_eq!(column("a.example", "https://m.example"), 4);
        assert_eq!(column("https://a.example", "ftp://m.example"), 5);
    }

    #[test]
    fn the_configuration_is_where_others_are() {
        let at = |variables: &[(&str, &str)]| {
            own_config(&|name| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| OsString::from(value)))
        };
        assert_eq!(at(&[("HOME", "/h")]), Some("/h/.config/overlay/config.yaml".into()));
        assert_eq!(at(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/x")]), Some("/x/overlay/config.yaml".into()));
        assert_eq!(at(&[]), None);
    }
}
