import { fullFiles } from '../scripts/test-files.ts';
import { COMPATIBLE_PROMISES } from './compatible-promises.ts';
import { EVENT_PROMISES } from './event-promises.ts';
import type { Proof } from './proof.ts';

/** A fault of the clients must show in each of them. */
const inEachClient = (what: string) =>
  new RegExp(`^${what}: expected .*, found \\{"typescript":[1-9]\\d*,"python":[1-9]\\d*,"asyncio":[1-9]\\d*\\}`, 'm');

/** Every promise that a command checks: test files at full scale, in the order of docs/promises.md. */
export const PROMISES: Readonly<Record<string, Proof>> = {
  'fresh-clone': {
    minutes: 15,
    faults: { 'broken-start': /^first and last frame of the stream: expected \["meta","end"\], found /m },
    figures: () => ({ started: 1, streamed: 1, stopped: 1 }),
  },
  'one-run': {
    minutes: 0.25,
    spreads: true,
    faults: { 'forget-requests': /^(runs|usage records under the request's id): expected 1, found \d+\.$/m },
  },
  pairs: {
    minutes: 9,
    faults: { 'read-then-write': /^mixed outcomes on the embedded store: expected 0, found [1-9]\d*\.$/m },
  },
  'allowance-race': {
    minutes: 0.2,
    spreads: true,
    faults: { 'forget-holds': /^admitted in round 1: expected 3, found \d+\.$/m },
  },
  'far-reader': {
    minutes: 1,
    measuresTime: true,
    faults: {
      'skip-chunk': /^(streams that came whole: expected 1|a far stream equals the near one: expected true), /m,
    },
    figures: (scale) => ({ runs: scale(3, 30), cancels: scale(6, 60), deaf_equal_streams: scale(6, 60) }),
  },
  'kill-anywhere': {
    minutes: 3,
    faults: { 'leave-orphans': /ended runs within \d+ ms of readiness: expected 1, found 0/ },
  },
  takeover: {
    minutes: 1.2,
    faults: { 'leave-orphans': /^runs completed elsewhere within \d+ ms: expected \d+, found 0\.$/m },
  },
  zombie: {
    minutes: 4,
    faults: { 'no-share-lock': /rows and files of the old attempt after the takeover: expected 0, found 1\.$/m },
  },
  resume: {
    files: ['test/resume-anywhere.full.test.ts', 'test/resume.full.test.ts'],
    test: 'a run that is killed at any event is completed, and repeats nothing',
    minutes: 4,
    faults: { 'forget-journal': /^kill at event \d+: calls of finished steps repeated: expected 0, found \d+\.$/m },
  },
  'agents-resume': {
    minutes: 5,
    faults: {
      'forget-loops': /^event \d+: calls of finished steps repeated: expected 0, found \d+\.$/m,
      'count-by-order': /^event \d+: calls of finished steps repeated: expected 0, found \d+\.$/m,
      'repeat-calls': /^process at event \d+: calls of tool [ty]: expected at most 1, found 2\.$/m,
      'keep-void-items': /^event \d+: items neither finished nor void: expected 0, found \d+\.$/m,
    },
  },
  ask: {
    minutes: 6,
    faults: {
      'run-before-asking': /^executions before an answer: expected \[0\], found \[1\]\.$/m,
      'answer-twice': /^refusal: expected "question_not_pending", found "admitted"\.$/m,
      'run-original-arguments': /^arguments of a changed call: expected \["changed"\], found \[null\]\.$/m,
    },
  },
  'cut-anywhere': {
    minutes: 1.2,
    faults: {
      'skip-events': /^a reader cut after \d+ frames and resumed [^:]+: expected `[^`]*` next, found `/m,
    },
  },
  sdk: {
    minutes: 20,
    faults: {
      'new-id-on-retry': inEachClient('doubled'),
      'trust-end-of-stream': inEachClient('wrong_text'),
      'keep-void-text': inEachClient('wrong_text'),
      'skip-status': inEachClient('lost'),
    },
    figures: (scale) => ({ runs: scale(450, 10_000), lost: 0, doubled: 0, charged: scale(450, 10_000), wrong_text: 0 }),
  },
  'sdk-cut': {
    minutes: 18,
    faults: {
      'resume-one-late': /^unequal: expected .*, found \{"typescript":[1-9]\d*,"python":[1-9]\d*,"asyncio":[1-9]\d*\}/m,
    },
  },
  runtimes: {
    minutes: 2,
    faults: { 'needs-node': /^chromium: error: expected undefined, found "a script cannot be loaded"/m },
    figures: () => ({ runtimes: 6, run: 6, resumed: 6, uploaded: 6, cancelled: 6 }),
  },
  packages: {
    minutes: 3,
    faults: {
      'lost-types': /^client: findings of publint: expected \[\], found \[".*index\.d\.ts/m,
      'wrong-bill':
        /^server: problems of the bill of materials: expected \[\], found \["pkg:npm\/fastify@.* is no component"/m,
      'lost-module': /^Python: .*ModuleNotFoundError: No module named 'runwire\./ms,
    },
    figures: () => ({ packages: 11, python_files: 2, findings: 0, projects: 4 }),
  },
  'slow-readers': {
    minutes: 4,
    faults: { 'unbounded-readers': /^extra_mb: expected at most 100, found \d+\.$/m },
    figures: (scale) => ({
      run_mb: 20,
      blocked: scale(20, 200),
      large_blocked: scale(20, 200),
      caught_up: scale(2, 20),
    }),
  },
  adapters: {
    files: ['packages/models/src/adapters.full.test.ts'],
    minutes: 1.5,
    faults: {
      'drop-last-event': /^responses, plain by LF: failed: expected false, found true\.$/m,
      'drop-signature': /^messages, thinking, then text by LF: thinking: expected \[\[".+\]\], found \[\]\.$/m,
    },
    figures: () => ({ responses_reasoning_asked: 4, chat_reasoning_asked: 4, ai_sdk_alike: 59, ai_sdk_differ: 9 }),
  },
  thinking: {
    minutes: 1,
    faults: {
      'reorder-blocks': /^ten steps of claude-sonnet-5: refusals: expected \[\], found \["signed-thinking: /m,
      'blocks-of-another-model': /^tire, and go on with newer: refusals: expected \[\], found \["signed-thinking: /m,
    },
    figures: () => ({ rules: 21, refusals: 0 }),
  },
  fallbacks: {
    minutes: 0.5,
    faults: {
      'hold-back': /^responses closes the connection after a text: calls of the second model: expected 0, found 1\.$/m,
      'free-failures':
        /^responses is silent after its head: tokens of the first model: expected at least 1, found 0\.$/m,
    },
    figures: () => ({ unavailable: 52, said: 20 }),
  },
  structured: {
    minutes: 0.3,
    faults: {
      'show-tries': /^responses, wrong once: wrong tries that a reader sees: expected \[\], found \["is one"/m,
    },
    figures: () => ({ cases: 38 }),
  },
  guardrails: {
    minutes: 6,
    faults: {
      'send-before-check':
        /^delegated toolResult block: places that have the text: expected \[\], found \["sent","events"/m,
    },
    figures: () => ({ cases: 104, kills: 12, taken_over: 128 }),
  },
  agencies: {
    minutes: 2,
    faults: { 'wrong-line': /^a field that is almost right: faults: expected .*"line":2,.*, found .*"line":1,/m },
  },
  'bad-tools': {
    minutes: 3,
    faults: {
      'in-process': /^server deaths: expected 0, found 1\.$/m,
      'repeat-forever': /^calls of \w+_repeatable: expected 2, found 3\.$/m,
    },
    figures: (scale) => ({ kinds: scale(69, 87) }),
  },
  reloads: {
    minutes: 2.5,
    faults: {
      'keep-modules': /^processes of agencies: expected 2, found \d+\.$/m,
      'mix-versions': /^runs that saw two versions: expected 0, found \d+\.$/m,
    },
  },
  portable: {
    minutes: 1,
    faults: { 'drop-flow': /^agency-swarm: prompt of `ExampleAgent2`: expected /m },
    figures: () => ({ starters: 5, flows: 14, tools: 3 }),
  },
  mcp: {
    minutes: 1.5,
    measuresTime: true,
    faults: {
      'wait-for-server': /^absent: first model call of a run: expected within 8000 ms, found later\.$/m,
      'inherit-environment': /^planted secrets in get-env: expected 0, found [1-5]\.$/m,
    },
    figures: () => ({ runs: 22, calls: 32, tools: 5013 }),
  },
  'bad-models': {
    minutes: 1.5,
    faults: {
      'endless-patience':
        /^responses, a provider that hangs before its first byte: end of its stream: expected within/m,
    },
    figures: () => ({ bad_providers: 34, runs: 136 }),
  },
  clients: {
    minutes: 0.3,
    faults: { 'held-back': /at curl: expected within \d+ ms, found later/ },
  },
  'bad-input': {
    minutes: 1.7,
    faults: { 'any-depth': /^refusals: status of POST \/get_completion_v2 .*: expected 400, found 200/m },
  },
  heal: {
    minutes: 2,
    faults: {
      'open-calls':
        /^cancel at event 21: refusals .*"responses":".*No tool output found for function call cancel-21-a, cancel-21-b.*"messages":/m,
    },
    figures: (scale) => ({ events: 50, cancelled: scale(9, 50), failed: scale(9, 50), killed: scale(4, 50) }),
  },
  cancel: {
    files: ['test/cancel.test.ts'],
    test: 'answers a cancel after the provider has seen its connection closed',
    minutes: 0.5,
    faults: {
      'deaf-model': /^round 1: provider sees its connection closed before the cancel is answered: expected within/m,
    },
  },
  'text-mode': {
    minutes: 1.5,
    faults: { 'hide-failures': /^failed after 0 words: normal ends: expected 0, found 1\.$/m },
  },
  outage: {
    files: ['test/outage-under-load.full.test.ts', 'test/outage.full.test.ts'],
    test: 'an outage of the database loses and repeats nothing',
    minutes: 5,
    faults: {
      'claims-false': /^swallowed: header `false` for an admitted run: expected 0, found \d+\.$/m,
      'fences-the-living': /^runs taken over: expected 0, found \d+\.$/m,
    },
  },
  'lost-commit': {
    minutes: 6,
    faults: {
      'trust-xid':
        /^(header `true` without a run|(lost|stuck): .*|frames that a reader saw): expected .*, found .*\.$/m,
    },
  },
  'full-disk': {
    minutes: 5,
    faults: { 'die-on-checkpoint': /^died: expected 0, found 1\./m },
    figures: (scale) => ({ starts: scale(1, 2), failed_syncs: scale(0, 1) }),
  },
  evals: {
    test: 'every expectation passes and fails as it must, and reports are equal on both servers',
    minutes: 2,
    faults: {
      'judge-always-passes': /^embedded: judge 1 fails: expected .*"failed".*, found .*"passed"/m,
      'skip-failed-repeats': /^embedded: repeats: two of three pass: expected .*"repeats":3.*, found .*"repeats":2/m,
    },
    figures: () => ({ cases: 60, wrong_files: 16, interrupted: 1 }),
  },
  doctor: {
    files: ['test/doctor.test.ts'],
    test: 'runwire doctor names the problem of a set-up, and nothing else',
    minutes: 1,
    faults: { 'ignore-proxy': /: checks with a finding: expected \["proxy"\], found \[\]/m },
    figures: (scale) => scale({}, { problems: 6, healthy: 1 }),
  },
  fair: {
    minutes: 3,
    measuresTime: true,
    faults: {
      // The other owner is refused, or its files wait for a place.
      'shared-by-integration':
        /^(completions of the other owner refused: expected 0|longest completion with files, in ms: expected at most 30000), found \d+\.$/m,
    },
  },
  loop: {
    files: ['test/loop.test.ts'],
    minutes: 3,
    measuresTime: true,
    faults: { 'no-yield': /^\w+: longest turn of the event loop in ms of CPU: expected at most 200, found \d+\.$/m },
  },
  restore: {
    minutes: 3,
    faults: {
      torn: /^[^:]+: expected (?!within).*, found /m,
      'forget-images': /^(end of a run|images of .*): expected .*, found /m,
      'forget-files': /^(whole )?files.*: expected .*, found /m,
    },
  },
  rollups: {
    minutes: 2,
    faults: { 'rollup-after-commit': /rollups that differ from the runs after a kill at .*: expected 0, found \d+/ },
  },
  search: {
    minutes: 40,
    measuresTime: true,
    faults: { 'skip-unindexed': /^(runs|chats) found outside the index: expected \[".+"\], found \[\]\.$/m },
  },
  upgrade: {
    minutes: 3,
    faults: {
      'fence-old-nodes':
        /^(Runs taken from a living server of the earlier version: expected 0, found run_|living servers that were taken for dead: expected 0, found [1-9])/m,
    },
  },
  paths: {
    minutes: 0.3,
    faults: {
      'no-folding': /^status of path-098 .*: expected 400, found 200/m,
      'forget-forms': /^status of the second of two \(a file and a folder.*: expected 409, found 200/m,
    },
    figures: () => ({ items: 108, reject: 73, accept: 10, safe: 23, either: 2, attachments: 45, pairs: 6 }),
  },
  ssrf: {
    files: ['packages/guarded-fetch/src/ssrf.test.ts'],
    minutes: 0.1,
    faults: {
      'first-address': /^outcome of ssrf-228 .*: expected refused or unresolved, found https:/m,
      'unchecked-redirects': /^outcome of ssrf-242 .*: expected refused, found https:/m,
      'dial-by-name': /^dials for a second resolution, .*: expected \["93\.184\.216\.34"\], found \["127\.0\.0\.1"\]/m,
      'mended-text': /^text of ssrf-030 .*: expected true, found false/m,
      'own-interfaces':
        /^outcome of an address of this machine, https:\/\/own-0\.test\/a: expected refused, found https:/m,
      'real-socket': /^real sockets and questions to name servers: expected 0, found [1-9]/m,
    },
    figures: () => ({ items: 174, refused: 144, fetched: 8, failed: 5, refreshes: 17, dials: 20 }),
  },
  attachments: {
    minutes: 0.5,
    faults: {
      'skip-unreadable': /^chat, \/gone\.pdf: what the provider was asked: expected null, found /m,
      'leak-query': /^chat, \/gone\.pdf: stream: expected no query, found one\.$/m,
      'convert-here': /^tokens beside the conversion: expected at least 20, found \d+\.$/m,
    },
    figures: (scale) => ({ kinds: 19, sent: scale(27, 37), refused: scale(29, 49) }),
  },
  documents: {
    minutes: 4,
    faults: {
      'lose-stored-line': /^\S+ in ranges by line: expected /m,
      'convert-here': /^tokens beside slow\.pdf: expected at least 60, found \d+\.$/m,
    },
    figures: (scale) => ({ texts: scale(5, 14), refused: 8, hostile: scale(4, 12) }),
  },
  refresh: {
    files: ['test/attachment-refreshes.test.ts', 'test/attachment-copies.test.ts'],
    test: /must be refreshed, then is used|needs no refresh|same host and path|have a copy each/,
    minutes: 0.3,
    faults: {
      'fetch-again': /^a kept copy needs no refresh, and a refresh is accepted:\nthe copy is sent/m,
      'forget-refreshes': /^Error: The run ended before its model was asked[\s\S]*its server answered 403/m,
      'share-copies': /^two integrations that attach the same bytes have a copy each:\n/m,
      'take-any-key':
        /^a refresh names an earlier attachment with the same host and path:\nThe request was not refused/m,
    },
    figures: () => ({ stable_turns: 12 }),
  },
  'post-policy': {
    minutes: 0.5,
    faults: {
      'take-extra-fields': /^aws\.uncovered_field: status: expected 403, found 204/m,
      'forget-difference': /^cases that only the gateway .*: expected \[\], found \["ceph\.\S+"\]\.$/m,
      'invent-difference': /^cases that are listed .*: expected \[\], found \["ceph\.\S+"\]\.$/m,
    },
  },
  upload: {
    minutes: 2,
    faults: { 'lose-a-byte': /^bytes of .*: expected \d+, found \d+\.$/m },
    figures: (scale) => ({ places: 3, senders: 4, files: scale(15, 24), read_by_agent: 12, too_large: scale(3, 12) }),
  },
  'upload-load': {
    minutes: 1,
    faults: { 'hold-files': /^growth in MB: expected at most 100, found \d+\.$/m },
  },
  'upload-kill': {
    minutes: 2,
    faults: { 'plain-writes': /^sync of the file: expected before the answer, found none\.$/m },
    figures: (scale) => scale<Record<string, number>>({ whole: 1, absent: 2 }, { whole: 6, absent: 18 }),
  },
  'files-atomic': {
    minutes: 6,
    faults: {
      'row-before-blob': /: rows without their blob: expected 0, found [1-9]\d*\.$/m,
      'quota-outside-transaction': /: bytes of signed forms: expected at most 100000, found \d+\.$/m,
    },
    figures: (scale) => scale<Record<string, number>>({ kills: 12, all: 4, none: 8 }, { kills: 56, all: 14, none: 42 }),
  },
  publish: {
    minutes: 6,
    faults: { 'write-before-commit': /: whether `file_bytes` is the sum of the sizes: expected true, found false\.$/m },
    figures: (scale) =>
      scale<Record<string, number>>(
        { kills: 6, all: 2, none: 4, process_kills: 3, stops: 2, late: 0, published: 46, refused: 14 },
        { kills: 44, all: 4, none: 40, process_kills: 8, stops: 8, late: 0, published: 92, refused: 28 },
      ),
  },
  escape: {
    files: ['packages/sandbox/src/escape.full.test.ts'],
    minutes: 8,
    faults: {
      'no-seccomp': /^escaped: expected 0, found \d+: .*bubblewrap as root: a vsock socket \(printed\)/m,
      'no-pid-namespace': /^escaped: expected 0, found \d+: .*bubblewrap as root: a daemon \(late\)/m,
      'open-descriptors': /^escaped: expected 0, found \d+: .*bubblewrap as root: read every descriptor \(printed\)/m,
    },
    figures: (scale) => ({ attempts: 124, escaped: 0, hostile: scale(5, 7) }),
  },
  'sandbox-everyday': {
    files: ['packages/sandbox/src/everyday.test.ts'],
    minutes: 4,
    faults: {
      'stale-table': /^row of `Clean up with `trap``: expected .*no: no `trap`.*, found /m,
      'no-home': /^Draw a chart as PNG, in bubblewrap: what is wrong: expected /m,
      'plain-just-bash': /^Copy a folder, .*, in just-bash: what is wrong: expected /m,
    },
    figures: () => ({ bubblewrap_works: 64, just_bash_works: 49, just_bash_fails: 15 }),
  },
  'member-files': {
    minutes: 1.5,
    faults: {
      'no-file-access': /^sqlite: chat: planted words seen by read \(the exact path\): expected 0, found \d+\.$/m,
    },
    figures: (scale) => ({ ways: scale(215, 430), seen: 0, valid: scale(40, 80) }),
  },
  tokens: {
    files: ['test/token-operations.test.ts', 'test/client-tokens.test.ts'],
    test: 'a client token reaches what its permissions name, and nothing else',
    minutes: 2,
    faults: {
      'token-is-key': /^embedded: own member: \w+: expected \[403,"token_forbidden"\], found .+\.$/m,
      'any-member': /^embedded: own member: listChats: planted words: expected 0, found \d+\.$/m,
    },
  },
  'sign-in': {
    files: ['test/sign-in.test.ts', 'test/sign-in-nodes.test.ts'],
    test: 'no operation accepts the cookie, as cookie or as bearer token',
    minutes: 2,
    faults: { 'cookie-is-key': /^\w+ with the cookie: status: expected 401, found \d+\.$/m },
    figures: () => ({ leaks: 0 }),
  },
  console: {
    files: ['test/console/visits.test.ts'],
    minutes: 15,
    faults: {
      unlabelled: /: axe: button-name /,
      'inline-style': /: console: error: .* inline style violates/,
      'failed-as-done': /run-ends at \d+: .*waitFor: Timeout/,
      'forget-calls': /chat-transcript at \d+: .*waitFor: Timeout/,
      'keep-nothing': /rerun-from-a-step at \d+: .*the request/,
    },
    figures: () => ({ axe: 0, messages: 0, violations: 0, foreign: 0 }),
  },
  'long-chats': {
    test: 'a chat is summed up once per half of the room, and keeps its facts',
    minutes: 4,
    faults: {
      'summarize-every-turn': /: summaries before another half of the room was full: expected 0, found [1-9]\d*\.$/m,
      'forget-summary': /: facts of turn 1 in the last prompt: expected 1, found 0\.$/m,
    },
    figures: (scale) => ({ turns: scale(60, 1000), kills: scale(3, 21) }),
  },
  'console-stream': {
    files: ['test/console/stream.full.test.ts'],
    minutes: 3,
    measuresTime: true,
    faults: { 'render-all': /^finished blocks that were made again, tasks longer than 100 ms: expected "0", found /m },
    figures: (scale) => ({ tokens: scale(1000, 5000), reloads: scale(3, 10), kills: 1 }),
  },
  'console-large': {
    files: ['test/console/large.full.test.ts'],
    minutes: 25,
    measuresTime: true,
    faults: {
      'render-rows': /members: rows in the document: expected at most 200, found \d{3,}/,
      'slow-search': /^searchMs to the first rows: expected at most 1000, found \d{4}\.$/m,
      'keep-lists': /members: bytes after leaving: expected at most \d+, found \d{7,}/,
    },
  },
  'console-hostile': {
    files: ['test/console/hostile.full.test.ts'],
    minutes: 10,
    faults: { 'trust-markdown': /active content: <a href="javascript:/ },
    figures: () => ({ foreign_requests: 0, scripts: 0 }),
  },
  stores: {
    minutes: 1.3,
    faults: { 'forget-types': /^disk: a file that was signed for and sent is read back, whole and in part: /m },
  },
  erase: {
    minutes: 9,
    faults: {
      'keep-copy': /places of planted texts: expected 0, found \d+/,
      'forget-pending': /was erased while its bytes were written/,
      'any-form': /statuses of uploads of the erased person: expected \[403,403\], found/,
      'sign-anyway': /statuses of uploads of the erased person: expected \[403,403\], found/,
      'keep-refused': /images of refused requests: expected 0, found/,
    },
  },
  roles: {
    minutes: 4,
    faults: { 'role-from-token': /^changes: the role viewer: / },
  },
  audit: {
    minutes: 8,
    faults: { 'audit-after-commit': /events: expected 1, found 0/ },
  },
  ...COMPATIBLE_PROMISES,
  ...EVENT_PROMISES,
};

/** A proof with its files. */
export type NamedProof = Proof & Required<Pick<Proof, 'files'>>;

const promises = Object.entries(PROMISES).map(([name, proof]): [string, NamedProof] => [
  name,
  { files: [`test/${name}.full.test.ts`], ...proof },
]);
const isInPromise = (file: string) => promises.some(([, { files }]) => files.includes(file));
const others = fullFiles().filter((file) => !isInPromise(file));

/** The promises by name, and every other test file that only `npm run check:full` runs, by its path. */
export const PROOFS: ReadonlyMap<string, NamedProof> = new Map([
  ...promises,
  ...others.map((file): [string, NamedProof] => [file, { files: [file], minutes: 1, faults: {} }]),
]);
