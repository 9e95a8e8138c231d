import { cpSync } from 'node:fs';
import { FileServer, type ServerProcess, type StreamReader, WAIT_POINTS, type WaitPoint } from '@runwire/test-kit';
import {
  ACCOUNT_CASES,
  ATTACHED,
  act,
  attachmentsOf,
  COMPACT,
  CRASH_CASES,
  type CrashCase,
  FIELDS,
  FURTHER_CASES,
  fetchesOf,
  hasCaller,
  labelOf,
  MEMBER,
  outcomeOf,
  REQUEST,
  START_CASES,
  say,
} from './support/crash-cases.ts';
import { inLanes } from './support/lanes.ts';
import { expectEqual, expectNumber, type Proof, Shortfall, until, WAIT_MS, within } from './support/proof.ts';
import { Rig, type ServerOptions } from './support/rig.ts';
import { type Body, checkReplay, checkStory, expectAllowance, whole } from './support/story.ts';

/*
 * A server dies by SIGKILL at a wait point. Another starts on its folder, and everything that a caller can ask is asked: the
 * header that the client saw, the chat status, the run, the usage, the history and the stream must agree.
 */

/** Three processes keep two cores and the disk busy. */
const LANES = 3;
/** The model's answer to every call after the kill. */
const ANSWER = 'Again.';

interface Setting {
  readonly fault: string | null;
  /** A folder with the integration and its member. */
  readonly template: string;
  readonly endedWithinMs: number;
}

/** `seen` is null if the client did not even get a head. */
async function askAll(rig: Rig, crash: CrashCase, request: typeof REQUEST, seen: StreamReader | null, limitMs: number) {
  const { model, path } = rig;
  const api = rig.servers.at(-1)?.api ?? rig.api();
  const chat = async (id = REQUEST.usageRequestId) => api.get(`${path}/chat_status?usageRequestId=${id}`);
  let outcome: string = outcomeOf(crash);
  let first = seen;
  if (outcome === 'none') {
    const { status, body } = await chat();
    expectEqual('run of a request that was not admitted', [status, body.code, seen], [404, 'run_not_found', null]);
    for (const list of ['usage', 'runs']) expectNumber(list, (await api.get(`${path}/${list}`)).body.items.length, 0);
    expectNumber('status of the history', (await api.get(`${path}/chats/${REQUEST.chatId}/messages`)).status, 404);
    await expectAllowance(api, MEMBER, 0);
    first = await whole(api.complete(request));
    expectEqual('X-Run-Replayed of a new run', first.headers['x-run-replayed'] ?? null, null);
    outcome = 'completed';
  }
  const isEnded = async () => ['completed', 'failed', 'cancelled'].includes((await chat()).body.run.status);
  await until('end of the run', isEnded, { limitMs, pauseMs: 100 }).catch(() => {
    throw new Shortfall(`ended runs within ${limitMs} ms of readiness: expected 1, found 0.`);
  });
  const { run, ...idle } = (await chat()).body;
  expectEqual('outcome', run.error?.code ?? run.status, outcome);
  expectEqual('chat', [idle.status, idle.activeRunId, idle.numMessages], ['idle', null, 2]);
  const { 'x-agent-run-admitted': admitted, 'x-run-id': runId } = first?.headers ?? {};
  if (first !== null) expectEqual('headers that were seen', [admitted, runId], ['true', run.runId]);
  const isCompacted = crash.point === 'sweep.after-commit';
  const story = await checkStory(rig, { api, runId: run.runId, seen: first?.frames ?? [], isCompacted });
  expectEqual('runs', (await api.get(`${path}/runs`)).body.items, [story.run]);
  for (const [field, value] of Object.entries(run)) expectEqual(`\`${field}\` of a run`, story.run[field], value);
  // A server that took the run over and cancelled it called no model, and no step was stored before.
  const amount = run.status === 'cancelled' && run.attempt > 1 ? 0 : 1;
  expectEqual('charged', story.charged, { unit: 'runs', amount });
  await expectAllowance(api, MEMBER, amount);
  await checkReplay(rig, api, request, story.stream);

  const next = await whole(api.complete({ ...REQUEST, usageRequestId: 'request-2', message: 'And now?' }));
  expectEqual('answer of the next turn', [next.answer, next.headers['x-run-replayed'] ?? null], [ANSWER, null]);
  const prompt = model.calls.at(-1)?.request.prompt ?? [];
  const said = prompt.flatMap((item) => (item.kind === 'user' ? [item.text] : []));
  expectEqual('user messages in the next prompt', said, [REQUEST.message, 'And now?']);
  const after: Body = (await chat('request-2')).body;
  expectEqual('next turn', [after.run.status, after.status, after.numMessages], ['completed', 'idle', 4]);
  await expectAllowance(api, MEMBER, amount + 1);
}

/** A server that dies while it starts prints nothing. */
async function dieInStart(rig: Rig, options: ServerOptions): Promise<void> {
  const problem = await rig.add({ ...options, fault: null }).then(
    () => 'none: it started',
    (error: Error) => error.message,
  );
  expectEqual(`last words of a start that was killed at ${options.killAt}`, problem, 'The server did not start: ');
}

/** Kills the server of the run. Resolves to what its client got, or to null. */
async function die(rig: Rig, crash: CrashCase, request: typeof REQUEST): Promise<StreamReader | null> {
  const { point, script, time } = crash;
  const limits = point.startsWith('sweep.') ? COMPACT : {};
  // A start changes accounts, too. So the server counts from the first word on, and stops; then it is killed.
  const end: ServerOptions = script === 'change' ? { stopAt: { point, time } } : { killAt: point, killAfter: time };
  const doomed: ServerProcess = await rig.add({ limits, fault: null, ...end });
  rig.model.onCall = (call) => void say(crash, call).catch(() => {});
  const post = doomed.api.complete(request);
  const head = post.catch(() => null);
  if (script === 'change') {
    await (await post).untilText('One ');
    doomed.arm();
  }
  // What the caller does last meets a dead process.
  if (hasCaller(crash)) post.then((reader) => act(crash, doomed.api, reader)).catch(() => {});
  if (script === 'change') await until('the stop at the point', () => doomed.isStill).then(() => doomed.kill());
  expectEqual('signal', await within('death at the point', WAIT_MS, doomed.gone), 'SIGKILL');
  const seen = await within('end of the post', WAIT_MS, head);
  await within('end of the cut stream', WAIT_MS, seen?.over ?? Promise.resolve(false));
  return seen;
}

/** Resolves to the number of servers that were killed. */
async function kill(crash: CrashCase, { fault, template, endedWithinMs }: Setting): Promise<number> {
  const { point, time, takeover, script } = crash;
  await using files = await FileServer.start();
  await using rig = await Rig.open({ fault, env: files.env });
  rig.integration = FIELDS.apiIntegrationId;
  const request = { ...REQUEST, attachments: attachmentsOf(crash, files) };
  let seen: StreamReader | null = null;
  if (script === 'start') await dieInStart(rig, { killAt: point, killAfter: time });
  else {
    cpSync(template, rig.dataDir, { recursive: true });
    seen = await die(rig, crash, request);
  }
  rig.servers.length = 0;
  // Before the next start: a run that continues asks immediately.
  rig.model.answerAll(ANSWER);
  if (takeover !== undefined) await dieInStart(rig, { killAt: takeover });
  await rig.add();
  if (script === 'start') await rig.prepare(FIELDS, REQUEST.consumerId);
  await askAll(rig, crash, request, seen, endedWithinMs);
  expectNumber('fetches', files.requests.length, fetchesOf(crash));
  const shown = rig.model.calls.filter((call) => JSON.stringify(call.request.prompt).includes(ATTACHED));
  expectNumber('model calls that show the file', shown.length, fetchesOf(crash) > 0 ? rig.model.calls.length : 0);
  return takeover === undefined ? 1 : 2;
}

export const proof: Proof = {
  name: 'kill-anywhere',
  minutes: 3,
  faults: { 'leave-orphans': /ended runs within \d+ ms of readiness: expected 1, found 0/ },
  async run({ fault, scale }) {
    await using template = await Rig.start();
    await template.prepare(FIELDS, REQUEST.consumerId);
    await template.server().kill('SIGTERM');
    // A busy machine gets three times the promised time. A start takes runs over before it is ready, so the fault shows soon.
    const endedWithinMs = fault === null ? scale(45_000, 15_000) : 3000;
    const setting = { fault, template: template.dataDir, endedWithinMs };
    const accounts = fault === null ? [...ACCOUNT_CASES, ...START_CASES] : [];
    const all = [...accounts, ...CRASH_CASES, ...scale([], FURTHER_CASES)];
    const cases = all.filter((_, place) => place % scale(3, 1) === 0);
    const reached = new Set<WaitPoint>();
    let kills = 0;
    const labelled = cases.map((crash) => [labelOf(crash), crash] as const);
    await inLanes(fault === null ? LANES : 1, labelled, async (crash) => {
      const killed = await kill(crash, setting);
      kills += killed;
      for (const point of [crash.point, crash.takeover]) if (point !== undefined) reached.add(point);
      process.stdout.write(`killed at ${labelOf(crash)}\n`);
    });
    const points = new Set(cases.flatMap(({ point, takeover = point }) => [point, takeover])).size;
    return { points: scale(points, WAIT_POINTS.length), killed: expectNumber('points', reached.size, points), kills };
  },
};
