// @ts-check
// Short tones: a move, and the end of the match.

/** The heights in hertz, and the length and distance of tones in seconds. */
const [MOVE_HZ, END_HZ, LENGTH, DISTANCE] = [440, [523, 659, 784], 0.09, 0.12];

/** @type {AudioContext|null} */
let audio = null;

/** Plays the tone of a move, or those of the end. @param {boolean} isEnd */
export function sound(isEnd) {
  // Browsers allow sound after the first click or key.
  audio ??= new AudioContext();
  const { currentTime: now, destination } = audio;
  (isEnd ? END_HZ : [MOVE_HZ]).forEach((height, at) => {
    if (!audio) return;
    const begin = now + at * DISTANCE;
    const volume = new GainNode(audio, { gain: 0.15 });
    volume.gain.setTargetAtTime(0, begin, LENGTH / 3);
    const tone = new OscillatorNode(audio, { type: "triangle", frequency: height });
    tone.connect(volume).connect(destination);
    tone.start(begin);
    tone.stop(begin + LENGTH);
  });
}
