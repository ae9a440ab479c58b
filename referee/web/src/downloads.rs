//! `/api/picture`: downloads of a match or one of its positions.

use super::App;
use super::course::Audience;
use super::errors::{ApiError, ApiResult, run_costly};
use super::frames::Frames;
use super::matches::{PLAIN, no_ply};
use super::tail::Tail;
use crate::export;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use referee_games::kind;
use referee_match::transcript::{Playback, game_record};
use referee_protocol::Seat;
use referee_render::pictures::{OutputFormat, PictureOptions, Plies, write_picture};
use referee_render::terminal;
use serde::Deserialize;
use std::io;
use std::sync::Arc;

/// The time per position of an animation, in milliseconds.
const DELAY_MS: u32 = 700;
/// The most plies of an animation.
const ANIMATED_PLIES_MAX: usize = 1000;

/// The parameters: a match, one of its plies, and the format.
#[derive(Debug, Deserialize)]
pub(super) struct PictureQuery {
    file: String,
    ply: Option<usize>,
    form: OutputFormat,
    seen_by: Option<Seat>,
}

fn content_type(form: OutputFormat) -> &'static str {
    match form {
        OutputFormat::Svg => "image/svg+xml",
        OutputFormat::Png | OutputFormat::Apng => "image/png",
        OutputFormat::Gif => "image/gif",
        OutputFormat::Html => "text/html; charset=utf-8",
        OutputFormat::Txt => "text/plain; charset=utf-8",
        OutputFormat::Mp4 => "video/mp4",
        OutputFormat::Webm => "video/webm",
        OutputFormat::Sgf => "application/x-go-sgf; charset=utf-8",
    }
}

pub(super) async fn picture(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Query(query): Query<PictureQuery>,
) -> ApiResult<Response> {
    // One at a time: running matches may need the cores.
    let (form, shared, file) = (query.form, app.clone(), query.file.clone());
    let (name, bytes) = run_costly(&shared.picture_permit, &file, move || {
        let tail = Tail::read_as(query.seen_by, &query.file, &app.served)?;
        let playback = tail.shown()?;
        let ply = query.ply.unwrap_or(playback.plies().len() - 1);
        if ply >= playback.plies().len() {
            return Err(no_ply(ply));
        }
        let header = playback.header();
        let of_ply = matches!(form, OutputFormat::Svg | OutputFormat::Png | OutputFormat::Txt);
        let suffix = if of_ply { format!("-{ply}") } else { String::new() };
        let name = format!("{}-{}{suffix}.{}", header.game, header.match_id, form.ending());
        let audience = Audience::of(&app, &headers);
        Ok((name, draw(&tail, ply, form, app.matches.plays(tail.path()), &audience)?))
    })
    .await?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type(form))),
        (header::CONTENT_DISPOSITION, super::pages::download(&name)),
    ];
    Ok((StatusCode::OK, headers, bytes).into_response())
}

/// Returns the file's bytes; `own` says that this server plays the match.
fn draw(
    tail: &Tail,
    ply: usize,
    form: OutputFormat,
    own: bool,
    audience: &Audience,
) -> ApiResult<Vec<u8>> {
    let playback = tail.shown()?;
    let options =
        PictureOptions { coordinates: true, delay_ms: DELAY_MS, ..PictureOptions::default() };
    let plies = playback.plies().len();
    if form.is_video() {
        let text = format!("the page makes no .{} files", form.ending());
        return Err(ApiError::unfit(text).help("use: referee replay export FILE --out NAME.mp4"));
    }
    if form.is_animation() && plies > ANIMATED_PLIES_MAX {
        let text = format!("animations have at most {ANIMATED_PLIES_MAX} plies here, not {plies}");
        return Err(
            ApiError::unfit(text).help("`referee replay export` makes animations of any length")
        );
    }
    match form {
        OutputFormat::Html => Ok(export(&tail.match_page(own, audience)?).into_bytes()),
        OutputFormat::Txt => Ok(as_text(playback, ply).into_bytes()),
        OutputFormat::Sgf => notation(playback).map(String::into_bytes),
        _ => {
            let mut bytes = io::Cursor::new(Vec::new());
            write_picture(form, playback, Plies::One(ply), &options, &mut bytes, &mut |_| {})
                .map_err(|error| ApiError::unfit(error.to_string()))?;
            Ok(bytes.into_inner())
        }
    }
}

/// Returns the board as plain text below a sentence about the ply.
fn as_text(playback: &Playback, ply: usize) -> String {
    let frames = Frames::new(&playback.plies()[0].view);
    let sentence = frames.frame(playback, ply).sentence;
    format!("{sentence}\n\n{}", terminal(&playback.plies()[ply].view, &PLAIN))
}

/// Returns the game as SGF.
fn notation(playback: &Playback) -> ApiResult<String> {
    let game = &playback.header().game;
    let known = kind(game).and_then(|kind| kind.notation(OutputFormat::Sgf.ending()));
    let notation = known.ok_or_else(|| ApiError::unfit(format!("{game} has no SGF notation")))?;
    let record = game_record(playback).map_err(ApiError::unfit)?;
    notation.write(&record).map_err(ApiError::unfit)
}
