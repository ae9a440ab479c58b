//! `/api/picture`: a match or one of its positions as a file to keep.

use super::App;
use super::errors::{Answer, Refused, aside};
use super::matches::{PLAIN, no_ply};
use super::tail::Tail;
use crate::export;
use axum::extract::{Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use referee_games::kind;
use referee_match::frames::Frames;
use referee_match::transcript::{Playback, game_record};
use referee_render::pictures::{
    Form, Plies, Wish as Look, write_apng, write_gif, write_png, write_svg,
};
use referee_render::{NoPicture, terminal};
use serde::Deserialize;
use std::io;
use std::sync::Arc;

/// How long an animation shows a position, in milliseconds.
const DELAY_MS: u32 = 700;
/// Longer matches are animated at the command line.
const ANIMATED_MAX: usize = 1000;

/// A match, one of its plies, and the form.
#[derive(Debug, Deserialize)]
pub(super) struct Wish {
    file: String,
    ply: Option<usize>,
    form: Form,
}

fn content_type(form: Form) -> &'static str {
    match form {
        Form::Svg => "image/svg+xml",
        Form::Png | Form::Apng => "image/png",
        Form::Gif => "image/gif",
        Form::Html => "text/html; charset=utf-8",
        Form::Txt => "text/plain; charset=utf-8",
        Form::Sgf => "application/x-go-sgf; charset=utf-8",
    }
}

pub(super) async fn picture(
    State(app): State<Arc<App>>,
    Query(wish): Query<Wish>,
) -> Answer<Response> {
    // One at a time: pictures take the cores that matches may need.
    let turn = app.painter.clone().acquire_owned().await;
    let form = wish.form;
    let (name, bytes) = aside(move || {
        let tail = Tail::read(&wish.file, &app.place)?;
        let playback = tail.shown()?;
        let ply = wish.ply.unwrap_or(playback.plies().len() - 1);
        if ply >= playback.plies().len() {
            return Err(no_ply(ply));
        }
        let header = playback.header();
        let of_ply = matches!(form, Form::Svg | Form::Png | Form::Txt);
        let place = if of_ply { format!("-{ply}") } else { String::new() };
        let name = format!("{}-{}{place}.{}", header.game, header.match_id, form.ending());
        Ok((name, made(&tail, ply, form, app.hall.plays(tail.path()))?))
    })
    .await?;
    drop(turn);
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type(form))),
        (header::CONTENT_DISPOSITION, super::pages::download(&name)),
    ];
    Ok((StatusCode::OK, headers, bytes).into_response())
}

/// The file's bytes; `own` says that the match is played by this server.
fn made(tail: &Tail, ply: usize, form: Form, own: bool) -> Answer<Vec<u8>> {
    let playback = tail.shown()?;
    let look = Look { coordinates: true, delay_ms: DELAY_MS, ..Look::default() };
    let plies = playback.plies().len();
    if matches!(form, Form::Gif | Form::Apng) && plies > ANIMATED_MAX {
        return Err(Refused::unfit(format!("{plies} plies are too many to be animated here"))
            .help("`referee replay export` makes animations of any length"));
    }
    let one = Plies::One(ply);
    let mut bytes = io::Cursor::new(Vec::new());
    let drawn = match form {
        Form::Svg => write_svg(playback, one, &look, &mut bytes),
        Form::Png => write_png(playback, one, &look, &mut bytes),
        Form::Gif => write_gif(playback, &look, &mut bytes, &mut |_| {}),
        Form::Apng => write_apng(playback, &look, &mut bytes, &mut |_| {}),
        Form::Html => return Ok(export(&tail.sheet(own)?).into_bytes()),
        Form::Txt => return Ok(as_text(playback, ply).into_bytes()),
        Form::Sgf => return notation(playback).map(String::into_bytes),
    };
    drawn.map_err(|error: NoPicture| Refused::unfit(error.to_string()))?;
    Ok(bytes.into_inner())
}

/// The board as plain text, and above it what happened.
fn as_text(playback: &Playback, ply: usize) -> String {
    let frames = Frames::new(&playback.plies()[0].view);
    let sentence = frames.frame(playback, ply).sentence;
    format!("{sentence}\n\n{}", terminal(&playback.plies()[ply].view, &PLAIN))
}

/// The whole game for other programs.
fn notation(playback: &Playback) -> Answer<String> {
    let game = &playback.header().game;
    let known = kind(game).and_then(|kind| kind.notation(Form::Sgf.ending()));
    let notation = known.ok_or_else(|| Refused::unfit(format!("{game} isn't written as SGF")))?;
    let record = game_record(playback).map_err(Refused::unfit)?;
    notation.write(&record).map_err(Refused::unfit)
}
