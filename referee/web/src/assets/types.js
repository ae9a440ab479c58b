// @ts-check
// The types of the server's JSON, for the type checker.

/** @typedef {{seat: number, name: string, colour: string, agent: string|null, command: string[],
 *   human: boolean}} Seat */
/** @typedef {{name: string, x: number, y: number, row: number, near: number[]}} Cell */
/** @typedef {{colour: string, cells: number[]}} Edge */
/** @typedef {{svg: string, width: number, height: number, cells: Cell[],
 *   edges: Edge[]}} Picture */
/** @typedef {{seat: number, score: number|null, depth: number|null, nodes: number|null,
 *   text: string|null, marks: [number, string][], pv: number[][], more: string|null}} Info */
/** @typedef {{seat: number, text: string, dropped: number}} StderrPiece */
/** @typedef {{name: string, colour: string|null, value: string}} Figure */
/** @typedef {{index: number, kind: string, turn: number, seat: number|null, text: string,
 *   sentence: string, fault: string|null, to_move: number|null, colours: string[],
 *   set: [number, string|null][], ground: [number, string|null][], last: number[],
 *   changes?: [number, string, string|null][], chain: number[], places?: number[]|null, figures: Figure[],
 *   rows?: [string, string|null, string[]][], words?: string, used_ms: number|null, cpu_ms: number|null,
 *   wait_ms: number|null, lag_ms: number|null, left_ms: (number|null)[], infos: Info[],
 *   stderr: StderrPiece[]}} Frame */
/** @typedef {{seat: number, turn: number, left_ms: number|null, for_ms: number}} Asked */
/** @typedef {{seat: number, sent: boolean, text: string, cut: boolean}} Line */
/** @typedef {{title: string, file: string, game: string, setup: Record<string, unknown>,
 *   match: string, seed: number|string, started: string, referee: string, sandbox: unknown,
 *   clock: string, bank_ms: number|null, move_ms: number|null, seats: Seat[], board: Picture,
 *   plies: Frame[], asked: Asked|null, state: string, problem: string|null, line: number,
 *   own?: boolean, public?: boolean, hidden?: boolean, seen_by?: number, notations?: string[]}} MatchData */
/** @typedef {{plies: Frame[], asked: Asked|null, state: string, problem: string|null,
 *   line: number}} MatchUpdate */
/** @typedef {{text: string, cells: number[]}} Action */
/** @typedef {{plies: Frame[], actions: Action[], over: string|null, position: unknown}} BranchData */
/** @typedef {{action: string, matches: number, won: number, drawn: number, lost: number}} Continuation */
/** @typedef {{contest: string|null, all: number, read: number, reached: number, next: Continuation[],
 *   matches: {row: Row, ply: number}[]}} Explored */
/** @typedef {{report: {agent: string, got: string[], recorded: string[], same: boolean, strayed: number[],
 *   wall_ms: number, cpu_ms: number, wrong: string|null, fix: string|null, stderr: string},
 *   note: string|null}} Rerun */
/** @typedef {{waiting: boolean, seat?: number, turn?: number, colour?: string|null,
 *   actions?: Action[], example?: string|null}} Waiting */
/** @typedef {{file: string, game: string, names: string[], colours: string[],
 *   turns: number|null, result: string|null, live: boolean, started: string,
 *   fault: string|null, own?: boolean, worker?: string|null}} Row */
/** @typedef {{seat: number, kind: string, text: string|null}} FaultRow */
/** @typedef {Row & {number: number, round: number, places: (number|null)[],
 *   faults: FaultRow[]}} ContestRow */
/** @typedef {{name: string, about: string, default: unknown, range: string}} Field */
/** @typedef {{name: string, title?: string, about: string, seats: number[],
 *   setup: Field[]}} Game */
/** @typedef {{folder: string, name: string, format: string, games: number, played: number,
 *   changed: number|null, running: boolean, problem: string|null}} ContestLine */
/** @typedef {{agent: string, about: string, games: string[]|null}} AgentLine */
/** @typedef {{title: string, version: string, can_play: boolean, can_start: boolean, games: Game[],
 *   agents: AgentLine[], live: Row[], contests: ContestLine[], transcripts: number}} Overview */
/** @typedef {{name: string, format: string, games: number, played: number, void: number,
 *   running: boolean, head: string[], rows: string[][], notes: string[], players: string[],
 *   cross: {head: string[], rows: string[][]}|null,
 *   last: string|null, public: boolean, live: Row[], workers: Worker[]}} Contest */
/** @typedef {{name: string, busy: number, slots: number, played: number, sandbox: string,
 *   silent_s: number|null, state: string}} Worker */

/** @typedef {{upload_mb: number, unpacked_mb: number, files: number, uploads_an_hour: number,
 *   uploads_a_day: number}} UploadLimits */
/** @typedef {{step: string, state: "waiting"|"running"|"done"|"failed"|"skipped", at: string|null,
 *   text: string|null}} StepData */
/** @typedef {{version: number, files: number, bytes: number, sha256: string, command: string|null,
 *   language: string|null, steps: StepData[], settled: boolean, player: string|null, why: string|null,
 *   taken_back: boolean, waits_until?: string}} VersionData */
/** @typedef {{team: string, now: string, closes: string|null, refused: string|null, again: string|null,
 *   limits: UploadLimits, versions: VersionData[], next?: NextGame[], token: string}} TeamPage */
/** @typedef {{player: string, elo: number, low: number|null, high: number|null, games: number,
 *   history: {games: number, elo: number, low: number|null, high: number|null}[]}} TeamRating */
/** @typedef {{number: number, round: number, game: string, players: string[]}} NextGame */

/** @typedef {{name: string, id: string, members: string[], until: string|null, disqualified: string|null,
 *   closes: string|null, versions: number, last: string|null, settled: boolean, why: string|null,
 *   player: string|null, elo: number|null, games: number, faults: number}} TeamLine */
/** @typedef {{count: number, rows: {game: number, cause: string, text: string, player: string|null}[]}} Failures */
/** @typedef {{failed: boolean, text: string, at: string}} Outcome */
/** @typedef {{token: string, name: string, now: string, deadline: string|null, grace_ms: number,
 *   freeze_at: string|null, paused: boolean, played: number, teams: TeamLine[],
 *   queue: {team: string, version: number, since: string, step: string, state: string}[],
 *   next: NextGame[], machine: Failures, faults: Failures,
 *   log: {number: number, at: string, by: string, text: string, order?: unknown, outcome?: Outcome}[],
 *   changes: {at: string, text: string, reason: string}[],
 *   final: null|{folder: string, outcome: Outcome|null, head: string[], rows: string[][],
 *   games: number|null, played: number|null}}} InstructorPage */

/** What a viewer can load besides the match; null if it can't.
 * @typedef {{lines: null|((ply: number) => Promise<Line[]>),
 *   text: null|((ply: number) => Promise<string>),
 *   position: null|((ply: number) => Promise<unknown>),
 *   picture: null|((form: string, ply: number) => string)}} Source */

export {};
