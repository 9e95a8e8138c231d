import { cpSync } from 'node:fs';
import { test } from 'node:test';
import { FileServer, Rig, type StreamReader, WAIT_POINTS, type WaitPoint } from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { expectEqual, Shortfall, until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import * as cases from './support/crash-cases.ts';
import { type CrashCase, REQUEST } from './support/crash-cases.ts';
import { inLanes } from './support/lanes.ts';
import { type Body, checkReplay, checkStory, expectAllowance, whole } from './support/story.ts';

/*
 * A server stops at a wait point, and dies there by SIGKILL. Another starts on its folder, and everything that a caller can
 * ask is asked: the header that the client saw, the chat status, the run, the usage, the history and the stream must agree.
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
  let outcome: string = cases.toOutcome(crash);
  let first = seen;
  if (outcome === 'none') {
    const { status, body } = await chat();
    expectEqual('run of a request that was not admitted', [status, body.code, seen], [404, 'run_not_found', null]);
    for (const list of ['usage', 'runs']) expectEqual(list, (await api.get(`${path}/${list}`)).body.items.length, 0);
    expectEqual('status of the history', (await api.get(`${path}/chats/${REQUEST.chatId}/messages`)).status, 404);
    await expectAllowance(api, cases.MEMBER, 0);
    first = await whole(api.complete(request));
    expectEqual('X-Run-Replayed of a new run', first.headers['x-run-replayed'] ?? null, null);
    outcome = 'completed';
  }
  expectEqual('status of the chat status', (await chat()).status, 200);
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
  await expectAllowance(api, cases.MEMBER, amount);
  await checkReplay(rig, api, request, story.stream);

  const next = await whole(api.complete({ ...REQUEST, usageRequestId: 'request-2', message: 'And now?' }));
  expectEqual('answer of the next turn', [next.answer, next.headers['x-run-replayed'] ?? null], [ANSWER, null]);
  const prompt = model.calls.at(-1)?.request.prompt ?? [];
  const said = prompt.flatMap((item) => (item.kind === 'user' ? [item.text] : []));
  expectEqual('user messages in the next prompt', said, [REQUEST.message, 'And now?']);
  const after: Body = (await chat('request-2')).body;
  expectEqual('next turn', [after.run.status, after.status, after.numMessages], ['completed', 'idle', 4]);
  await expectAllowance(api, cases.MEMBER, amount + 1);
}

/** Returns false if the server started. A server that dies while it starts prints nothing. */
async function dieInStart(rig: Rig, killAt: WaitPoint, killAfter = 1): Promise<boolean> {
  const problem = await rig.add({ killAt, killAfter, fault: null }).catch((error: Error) => error.message);
  if (typeof problem !== 'string') return false;
  expectEqual(`last words of a start that was killed at ${killAt}`, problem, 'The server did not start: ');
  return true;
}

/** Resolves to the number of servers that were killed: 0 if a start did not reach the point so often. */
async function kill(crash: CrashCase, { fault, template, endedWithinMs }: Setting): Promise<number> {
  const { point, time, takeover, script } = crash;
  await using files = await FileServer.start();
  await using rig = await Rig.open({ fault, env: files.env });
  rig.integration = cases.FIELDS.apiIntegrationId;
  const request = { ...REQUEST, attachments: cases.getAttachments(crash, files) };
  let seen: StreamReader | null = null;
  if (script === 'start') {
    if (!(await dieInStart(rig, point, time))) return 0;
  } else {
    cpSync(template, rig.dataDir, { recursive: true });
    rig.model.onCall = (call) => void cases.say(crash, call).catch(() => {});
    const limits = point.startsWith('sweep.') ? cases.COMPACT : {};
    const { server, post } = await cases.freezeAt(rig, crash, request, { limits, fault: null });
    await server.kill();
    seen = await within('end of the post', WAIT_MS, post);
    await within('end of the cut stream', WAIT_MS, seen?.over ?? Promise.resolve(false));
  }
  rig.servers.length = 0;
  // Before the next start: a run that continues asks immediately.
  rig.model.answerAll(ANSWER);
  if (takeover !== undefined) expectEqual(`death at ${takeover}`, await dieInStart(rig, takeover), true);
  await rig.add();
  if (script === 'start') await rig.prepare(cases.FIELDS, REQUEST.consumerId);
  if (script === 'change') {
    const { status } = await rig.api().get(`${rig.path}/members/another`);
    expectEqual('status of a member that was being made', status, point === 'account.after-commit' ? 200 : 404);
  }
  await askAll(rig, crash, request, seen, endedWithinMs);
  expectEqual('fetches', files.requests.length, cases.countFetches(crash));
  const shown = rig.model.calls.filter((call) => JSON.stringify(call.request.prompt).includes(cases.ATTACHED));
  expectEqual(
    'model calls that show the file',
    shown.length,
    cases.countFetches(crash) > 0 ? rig.model.calls.length : 0,
  );
  return takeover === undefined ? 1 : 2;
}

/** A start stores accounts several times: it is killed at the first time, at a later one, and so on, until it is ready. */
async function killOften(crash: CrashCase, setting: Setting, stride: number): Promise<number> {
  if (crash.script !== 'start') return kill(crash, setting);
  let kills = 0;
  for (let { time } = crash; (await kill({ ...crash, time }, setting)) > 0; time += stride) kills += 1;
  return kills;
}

test('everything agrees after a server died at any moment', async () => {
  const fault = plantedFault();
  await using template = await Rig.start();
  await template.prepare(cases.FIELDS, REQUEST.consumerId);
  await template.server().kill('SIGTERM');
  // A busy machine gets three times the promised time. A start takes runs over before it is ready, so the fault shows soon.
  const endedWithinMs = fault === null ? scale(45_000, 15_000) : 3000;
  const setting = { fault, template: template.dataDir, endedWithinMs };
  const accounts = fault === null ? [...cases.ACCOUNT_CASES, ...cases.START_CASES] : [];
  const all = [...accounts, ...cases.CRASH_CASES, ...scale([], cases.FURTHER_CASES)];
  const chosen = all.filter((_, place) => place % scale(3, 1) === 0);
  const reached = new Set<WaitPoint>();
  let kills = 0;
  const labelled = chosen.map((crash) => [cases.toLabel(crash), crash] as const);
  await inLanes(fault === null ? LANES : 1, labelled, async (crash) => {
    const killed = await killOften(crash, setting, scale(4, 1));
    kills += killed;
    for (const point of [crash.point, crash.takeover]) if (point !== undefined) reached.add(point);
    process.stdout.write(`killed at ${cases.toLabel(crash)}\n`);
  });
  const chosenPoints = new Set(chosen.flatMap(({ point, takeover = point }) => [point, takeover])).size;
  const points = scale(chosenPoints, WAIT_POINTS.length);
  count({ points, killed: expectEqual('points', reached.size, points), kills });
});
