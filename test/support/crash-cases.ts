import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient, FileServer, ModelCall, Rig, ServerOptions, StreamReader, WaitPoint } from '@runwire/test-kit';
import { until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';

/* The runs of the crash family: the model's answers, and the point at which the server stops. */

const INTEGRATION = 'crash';
const PATH = `/v2/integrations/${INTEGRATION}`;
const allowances = { unit: 'runs', limit: 100, period: 'lifetime' };
export const FIELDS = { apiIntegrationId: INTEGRATION, name: 'Crash', agency: 'test', allowances };
export const REQUEST = {
  apiIntegrationId: INTEGRATION,
  consumerId: 'member-1',
  chatId: 'chat-1',
  usageRequestId: 'request-1',
  message: 'Say something.',
};
export const MEMBER = `${PATH}/members/${REQUEST.consumerId}`;
export const ATTACHED = 'Attached by its URL.';
/** With these limits a server compacts a run's events as soon as it has ended. */
export const COMPACT = { logMs: 0, sweepMs: 20 };

const SCRIPTS = {
  /** Sends two words and ends. */
  async speak(call: ModelCall) {
    await call.text('One ');
    await call.text('two.');
    await call.end();
  },
  /** Continues for as long as the server listens, so that another flush always follows. */
  async talk(call: ModelCall) {
    while (!call.isClosed) {
      await Promise.race([call.text('word '), call.closed]);
      await sleep(20);
    }
  },
  async useTool(call: ModelCall) {
    if (call.request.step === 1) await call.toolCall('call_1', 'echo', '{"a":1}');
    else await call.text('Done.');
    await call.end();
  },
  async fail(call: ModelCall) {
    await call.text('One ');
    await call.fail('model_error', 'The model broke.');
  },
  /** Sends one word; then a caller cancels the run, or changes an account. */
  async cancel(call: ModelCall) {
    await call.text('One ');
  },
};

type Completion = Parameters<ApiClient['complete']>[0];

interface FreezeOptions extends ServerOptions {
  readonly post?: Promise<StreamReader | null>;
}

/** Before `start` the data folder is empty, and the server stops while it starts. */
type Script = keyof typeof SCRIPTS | 'change' | 'start';
export const say = ({ script }: CrashCase, call: ModelCall): Promise<void> =>
  SCRIPTS[script === 'change' || script === 'start' ? 'cancel' : script](call);

/**
 * Starts a server that stops itself at the point, and a run on it unless `post` is that run. Resolves when the server is
 * stopped. It counts from its start, or from the first word if a caller does something then.
 */
export async function freezeAt(rig: Rig, crash: CrashCase, request: Completion, options: FreezeOptions = {}) {
  const { point, script, time } = crash;
  const { post: given, ...own } = options;
  const server = await rig.add({ ...own, stopAt: { point, time } });
  const hasCaller = script === 'cancel' || script === 'change';
  if (!hasCaller) server.arm();
  const post = given ?? server.api.complete(request).catch(() => null);
  if (hasCaller) {
    const reader = await within('head of the stream', WAIT_MS, post);
    await within('first word', WAIT_MS, reader?.untilText('One ') ?? Promise.reject(new Error('No head.')));
    server.arm();
    const cancel = `${PATH}/runs/${reader?.headers['x-run-id']}/cancel`;
    const asked = script === 'cancel' ? server.api.post(cancel) : server.api.put(`${PATH}/members/another`, {});
    // The server is stopped or dead before it answers.
    asked.catch(() => {});
  }
  await until(`the stop at ${point}`, () => server.isStill);
  return { server, post };
}

/** A run that stops at an attachment has a file by URL. */
export function getAttachments({ point }: CrashCase, files: FileServer): object[] {
  const url = files.serve('/attached.txt', ATTACHED, 'text/plain');
  return point.startsWith('attachment.') ? [{ type: 'input_file', file_url: url }] : [];
}

/** A file that was fetched and not recorded is fetched again by the run that continues. */
export const countFetches = ({ point }: CrashCase) =>
  point === 'attachment.before-commit' ? 2 : point === 'attachment.after-commit' ? 1 : 0;

export interface CrashCase {
  readonly point: WaitPoint;
  readonly script: Script;
  /** The server stops when it reaches the point for this time. */
  readonly time: number;
  /** The point at which a server that takes the run over stops, too. */
  readonly takeover?: WaitPoint;
}

const at = (script: Script, time: number, ...points: readonly WaitPoint[]): CrashCase[] =>
  points.map((point) => ({ point, script, time }));

/** Every wait point of a run once. The first three, on different paths, are enough for short forms. */
export const CRASH_CASES: readonly CrashCase[] = [
  ...at('talk', 2, 'flush.before-commit'),
  ...at('useTool', 1, 'step.after-commit'),
  ...at('speak', 1, 'end.before-commit'),
  ...at('talk', 1, 'admit.before-commit', 'admit.after-commit', 'header.before', 'header.after'),
  ...at('talk', 1, 'first-byte.before', 'first-byte.after', 'flush.after-commit'),
  ...at('speak', 1, 'attachment.before-commit', 'attachment.after-commit', 'settle.before', 'settle.after'),
  ...at('speak', 1, 'end.after-commit', 'messages.before', 'messages.after', 'end-frame.before', 'end-frame.after'),
  ...at('speak', 1, 'sweep.before-commit', 'sweep.after-commit'),
  ...at('useTool', 1, 'step.before-commit'),
  ...at('cancel', 1, 'cancel-intent.before', 'cancel.before-commit', 'cancel.after-commit', 'cancel-intent.after'),
  { point: 'flush.after-commit', script: 'talk', time: 2, takeover: 'takeover.before-commit' },
  { point: 'flush.after-commit', script: 'talk', time: 2, takeover: 'takeover.after-commit' },
];

/** A change of an account during a run. */
export const ACCOUNT_CASES = at('change', 1, 'account.before-commit', 'account.after-commit');

/** The first starts on an empty folder, which store the settings' accounts. */
export const START_CASES = at('start', 1, 'account.before-commit', 'account.after-commit');

/** Some of these points on other paths. */
export const FURTHER_CASES: readonly CrashCase[] = [
  ...at('talk', 1, 'flush.before-commit'),
  ...at('talk', 2, 'flush.after-commit'),
  ...at('useTool', 2, 'step.before-commit', 'step.after-commit'),
  ...at('useTool', 1, 'end.before-commit', 'end.after-commit', 'sweep.before-commit', 'sweep.after-commit'),
  ...at('fail', 1, 'end.before-commit', 'end.after-commit', 'messages.after', 'sweep.after-commit'),
  ...at('cancel', 1, 'settle.before', 'end.before-commit', 'end.after-commit', 'messages.after'),
  { point: 'cancel.after-commit', script: 'cancel', time: 1, takeover: 'takeover.before-commit' },
  { point: 'cancel.after-commit', script: 'cancel', time: 1, takeover: 'takeover.after-commit' },
];

export const toLabel = ({ point, script, time, takeover }: CrashCase) =>
  `${point}${takeover === undefined ? '' : `, ${takeover}`} (${script}, time ${time})`;

const AFTER_END = /^(end\.after-commit|settle\.after|(messages|end-frame)\..*|sweep\..*)$/;

/** What is stored of the run when the server stops. */
export function storedAt({ point, script }: CrashCase): 'nothing' | 'unfinished' | 'cancel' | 'end' {
  if (point === 'admit.before-commit' || script === 'start') return 'nothing';
  if (AFTER_END.test(point)) return 'end';
  const hasIntent = script === 'cancel' && !/^cancel(-intent\.before|\.before-commit)$/.test(point);
  return hasIntent ? 'cancel' : 'unfinished';
}

/** How the run must end; the model answers every call after the crash. */
export function toOutcome(crash: CrashCase): 'none' | 'completed' | 'cancelled' | 'model_error' {
  const stored = storedAt(crash);
  if (stored === 'nothing') return 'none';
  if (stored === 'cancel') return 'cancelled';
  if (stored === 'unfinished') return 'completed';
  return crash.script === 'fail' ? 'model_error' : crash.script === 'cancel' ? 'cancelled' : 'completed';
}
