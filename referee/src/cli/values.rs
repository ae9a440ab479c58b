//! Values of options that are enums of the libraries, which know no command line.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use referee_protocol::{Level, LevelChoice, OnFault, Pondering};
use referee_render::Theme;
use referee_render::pictures::OutputFormat;
use strum::VariantArray;

/// Returns a parser for the names of an enum's values, which are listed with this help.
fn values<T>(help: fn(T) -> &'static str) -> impl TypedValueParser<Value = T>
where
    T: VariantArray + Into<&'static str> + Copy + Send + Sync,
{
    let listed = T::VARIANTS.iter();
    let listed = listed.map(move |&value| PossibleValue::new(value.into()).help(help(value)));
    PossibleValuesParser::new(listed).map(|name| {
        let found = T::VARIANTS.iter().find(|&&value| value.into() == name);
        *found.expect("only these names are accepted")
    })
}

/// The values of --sandbox.
pub(super) fn levels() -> impl TypedValueParser<Value = LevelChoice> {
    let help = |level| match level {
        Level::None => "No isolation, for debugging",
        Level::Basic => "Limits against accidents",
        Level::Confined => "No access to other files, the network or other processes",
        Level::Isolated => "The rest of the machine can't be seen",
        Level::Metered => "The kernel counts memory and CPU time",
        Level::External => "What the --wrapper command does",
    };
    let named = Level::VARIANTS.iter();
    let named = named.map(move |&level| PossibleValue::new(level.name()).help(help(level)));
    let auto = PossibleValue::new("auto").help("The strongest that works on this machine");
    PossibleValuesParser::new(std::iter::once(auto).chain(named))
        .map(|name| name.parse().expect("only these names are accepted"))
}

/// The values of --pondering.
pub(super) fn pondering() -> impl TypedValueParser<Value = Pondering> {
    values(|pondering| match pondering {
        Pondering::Allow => "Anything",
        Pondering::Measure => "Anything, on their own clock",
        Pondering::Freeze => "Nothing: they are stopped",
    })
}

/// The values of --on-fault.
pub(super) fn on_fault() -> impl TypedValueParser<Value = OnFault> {
    values(|on_fault| match on_fault {
        OnFault::Retire => "It is out, the others play on",
        OnFault::End => "The match ends",
    })
}

/// The values of --theme.
pub(super) fn themes() -> impl TypedValueParser<Value = Theme> {
    values(|theme| match theme {
        Theme::Light => "Dark on light",
        Theme::Dark => "Light on dark",
    })
}

/// The values of --format.
pub(super) fn forms() -> impl TypedValueParser<Value = OutputFormat> {
    values(|form| match form {
        OutputFormat::Svg => "A picture that stays sharp at every size",
        OutputFormat::Png => "A picture in pixels",
        OutputFormat::Gif => "An animation that every program shows",
        OutputFormat::Apng => "The same as an animated PNG",
        OutputFormat::Mp4 => "A video, written by ffmpeg",
        OutputFormat::Webm => "A video in a patent-free format, written by ffmpeg",
        OutputFormat::Html => "The viewer with the match in one file, which opens from disk",
        OutputFormat::Txt => "Every position and what happened, as text",
        OutputFormat::Sgf => "The game for other programs, where it has that notation",
    })
}
