//! Videos, written by ffmpeg.

use referee_process::Failure;
use referee_process::work_folder::create_private;
use referee_render::PictureError;
use referee_render::pictures::{AnimationFrames, OutputFormat};
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::process::{Command, Stdio};

/// The program that writes videos.
const FFMPEG: &str = "ffmpeg";
/// The pictures a second of a video, if a position is shown at least that long.
const RATE: u32 = 25;

/// A format of videos whose program is installed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Video(OutputFormat);

impl Video {
    /// Looks for ffmpeg.
    pub(super) fn new(form: OutputFormat) -> Result<Self, Failure> {
        let mut version = Command::new(FFMPEG);
        version.arg("-version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match version.status() {
            Ok(_) => Ok(Self(form)),
            Err(error) => {
                let why = match error.kind() {
                    ErrorKind::NotFound => "it is not installed".to_owned(),
                    _ => error.to_string(),
                };
                let text = format!(".{} files are written by ffmpeg: {why}", form.ending());
                Err(Failure::machine(text).help(
                    "install it (`apt install ffmpeg`, `brew install ffmpeg`), or write .gif",
                ))
            }
        }
    }

    /// Writes a video in which every frame but the last is shown for `delay_ms`.
    pub(super) fn write(
        self,
        frames: &AnimationFrames<'_>,
        delay_ms: u32,
        out: &mut dyn Write,
        done: &mut dyn FnMut(usize),
    ) -> Result<(), PictureError> {
        // ffmpeg writes the index of an .mp4 file last, and then moves it to the front: not in a pipe.
        let folder = create_private("referee-")?;
        let file = folder.path().join(self.0.ending());
        let errors = folder.path().join("errors");
        let (width, height) = frames.size();
        let mut command = Command::new(FFMPEG);
        command.args(["-loglevel", "error", "-f", "rawvideo", "-pixel_format", "rgb24"]);
        command.args(["-video_size", &format!("{width}x{height}")]);
        command.args(["-framerate", &format!("1000/{delay_ms}"), "-i", "-"]);
        let rate = RATE.max(1000 / delay_ms.max(1));
        // Players expect an even number of pixels.
        let filter = format!("fps={rate},scale=trunc(iw/2)*2:trunc(ih/2)*2,format=yuv420p");
        command.args(["-vf", &filter]).args(self.codec()).args(["-f", self.0.ending()]).arg(&file);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(File::create(&errors)?);
        let mut child = command.spawn()?;
        let mut input = child.stdin.take().ok_or_else(|| io::Error::other("no pipe to ffmpeg"))?;
        let sent = frames.each(done, |pixels, delay| {
            for _ in 0..delay.div_ceil(delay_ms.max(1)) {
                input.write_all(pixels.rgb.as_flattened())?;
            }
            Ok(())
        });
        drop(input);
        if !child.wait()?.success() {
            let said = std::fs::read(&errors).unwrap_or_default();
            let said = String::from_utf8_lossy(&said);
            let last = said.lines().last().unwrap_or("it failed without a message");
            return Err(PictureError::Broken(format!("ffmpeg: {last}")));
        }
        sent?;
        io::copy(&mut File::open(&file)?, out)?;
        Ok(())
    }

    fn codec(self) -> &'static [&'static str] {
        match self.0 {
            OutputFormat::Webm => &[
                "-c:v",
                "libvpx-vp9",
                "-crf",
                "30",
                "-b:v",
                "0",
                "-deadline",
                "realtime",
                "-cpu-used",
                "8",
                "-row-mt",
                "1",
            ],
            _ => &["-c:v", "libx264", "-crf", "20", "-movflags", "+faststart"],
        }
    }
}
