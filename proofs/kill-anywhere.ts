import { cpSync } from 'node:fs';
import { FileServer, type ServerProcess, type StreamReader, WAIT_POINTS, type WaitPoint } from '@runwire/test-kit';
import {
  act,
  COMPACT,
  CRASH_CASES,
  type CrashCase,
  FIELDS,
  FURTHER_CASES,
  INTEGRATION,
  labelOf,
  outcomeOf,
  PATH,
  REQUEST,
  say,
} from './support/crash-cases.ts';
import { inLanes } from './support/lanes.ts';
import { expectEqual, expectNumber, type Proof, Shortfall, until, WAIT_MS, within } from './support/proof.ts';
import { Rig } from './support/rig.ts';
import { type Body, checkReplay, checkStory, expectAllowance, whole } from './support/story.ts';

/*
 * A server dies by SIGKILL at a wait point. Another starts on its folder, and everything that a caller can ask is asked: the
 * header that the client saw, the chat status, the run, the usage, the history and the stream must agree.
 */

/** Three processes keep two cores and the disk busy. */
const LANES = 3;
/** The model's answer to every call after the kill. */
const ANSWER = 'Again.';
const ATTACHED = 'Attached by its URL.';
const MEMBER = `${PATH}/members/${REQUEST.consumerId}`;

interface Setting {
  readonly fault: string | null;
  readonly endedWithinMs: number;
}

interface Questions extends Setting {
  readonly rig: Rig;
  readonly outcome: ReturnType<typeof outcomeOf>;
  /** Null if the client did not even get a head. */
  readonly seen: StreamReader | null;
  readonly request: typeof REQUEST;
  readonly isCompacted: boolean;
}

/** Starts a server on the folder of the killed one and asks it everything. */
async function askAll(server: ServerProcess, { rig, outcome, seen, request, isCompacted, endedWithinMs }: Questions) {
  const { api } = server;
  const { model } = rig;
  const statusPath = `${PATH}/chat_status?usageRequestId=${REQUEST.usageRequestId}`;
  if (seen !== null) expectEqual('X-Agent-Run-Admitted that was seen', seen.headers['x-agent-run-admitted'], 'true');
  let expected = outcome;
  let first = seen;
  const status = await api.get(statusPath);
  if (status.status === 404) {
    expectEqual('outcome', ['run_not_found', 'none', null], [status.body.code, outcome, seen]);
    for (const list of ['usage', 'runs']) expectNumber(list, (await api.get(`${PATH}/${list}`)).body.items.length, 0);
    expectNumber('status of the history', (await api.get(`${PATH}/chats/${REQUEST.chatId}/messages`)).status, 404);
    await expectAllowance(api, MEMBER, 0);
    first = await whole(api.complete(request));
    expectEqual('X-Run-Replayed of a new run', first.headers['x-run-replayed'] ?? null, null);
    expected = 'completed';
  }
  const chat = async (): Promise<Body> => (await api.get(statusPath)).body;
  const isEnded = async () => ['completed', 'failed', 'cancelled'].includes((await chat()).run.status);
  await until('end of the run', isEnded, { limitMs: endedWithinMs, pauseMs: 100 }).catch(async () => {
    const found = (await chat()).run.status;
    throw new Shortfall(`ended runs within ${endedWithinMs} ms of readiness: expected 1, found 0 (${found}).`);
  });
  const { run, ...idle } = await chat();
  expectEqual('outcome', run.error?.code ?? run.status, expected);
  expectEqual('chat', [idle.status, idle.activeRunId, idle.numMessages], ['idle', null, 2]);
  if (first !== null) expectEqual('X-Run-Id against the status', first.headers['x-run-id'], run.runId);
  const { body: listed } = await api.get(`${PATH}/runs`);
  expectEqual(
    'runs',
    listed.items.map(({ runId }: Body) => runId),
    [run.runId],
  );
  const story = { integration: INTEGRATION, runId: run.runId, model, seen: first?.frames ?? [], isCompacted };
  const { run: alone, charged, stream } = await checkStory(api, story);
  expectEqual('run against the list', alone, listed.items[0]);
  for (const [field, value] of Object.entries(run)) expectEqual(`\`${field}\` of run and status`, alone[field], value);
  // A server that took the run over and cancelled it called no model, and no step was stored before.
  const amount = run.status === 'cancelled' && run.attempt > 1 ? 0 : 1;
  expectEqual('charged', charged, { unit: 'runs', amount });
  await expectAllowance(api, MEMBER, amount);
  await checkReplay(api, model, request, stream);

  const next = await whole(api.complete({ ...REQUEST, usageRequestId: 'request-2', message: 'And now?' }));
  expectEqual('answer of the next turn', [next.answer, next.headers['x-run-replayed'] ?? null], [ANSWER, null]);
  const prompt = model.calls.at(-1)?.request.prompt ?? [];
  const said = prompt.flatMap((item) => (item.kind === 'user' ? [item.text] : []));
  expectEqual('user messages in the next prompt', said, [REQUEST.message, 'And now?']);
  const { body: after } = await api.get(`${PATH}/chat_status?usageRequestId=request-2`);
  expectEqual('next turn', [after.run.status, after.status, after.numMessages], ['completed', 'idle', 4]);
  await expectAllowance(api, MEMBER, amount + 1);
}

const died = async (server: ServerProcess) =>
  expectEqual('signal', await within('death at the point', WAIT_MS, server.gone), 'SIGKILL');

/** Null if the process died before it was ready. */
async function startDoomed(rig: Rig, options: Parameters<Rig['add']>[0]): Promise<ServerProcess | null> {
  const started = await rig.add({ ...options, fault: null }).catch((error: unknown) => error);
  if (!(started instanceof Error)) return started as ServerProcess;
  expectEqual('last words of a process that was killed', started.message, 'The server did not come up: ');
  return null;
}

async function killRun(crash: CrashCase, template: string, setting: Setting): Promise<number> {
  const { point, script, time, takeover } = crash;
  await using files = await FileServer.start();
  await using rig = await Rig.open({ fault: setting.fault, env: files.env });
  cpSync(template, rig.dataDir, { recursive: true });
  const { model } = rig;
  const hasUrl = point.startsWith('attachment.');
  const url = files.serve('/attached.txt', ATTACHED, 'text/plain');
  const request = hasUrl ? { ...REQUEST, attachments: [{ type: 'input_file', file_url: url }] } : REQUEST;
  const limits = point.startsWith('sweep.') ? COMPACT : {};
  const doomed = await rig.add({ limits, killAt: point, killAfter: time, fault: null });
  model.onCall = (call) => void say(script, call).catch(() => {});
  const post = doomed.api.complete(request);
  const head = post.catch(() => null);
  // What the caller does last meets a dead process.
  post.then((reader) => act(script, doomed.api, reader)).catch(() => {});
  await died(doomed);
  const seen = await within('end of the post', WAIT_MS, head);
  await within('end of the cut stream', WAIT_MS, seen?.over ?? Promise.resolve(false));
  // Before the next start: a run that continues asks immediately.
  model.answerAll(ANSWER);
  if (takeover !== undefined) {
    const started = await startDoomed(rig, { killAt: takeover });
    expectNumber(`starts killed at ${takeover}`, Number(started === null), 1);
  }
  const outcome = outcomeOf(crash);
  const isCompacted = point === 'sweep.after-commit';
  await askAll(await rig.add(), { ...setting, rig, outcome, seen, request, isCompacted });
  if (hasUrl) {
    // A file that was fetched and not recorded is fetched again by the run that continues; the next turn has the copy.
    expectNumber('fetches', files.requests.length, point === 'attachment.before-commit' ? 2 : 1);
    const shown = model.calls.filter((call) => JSON.stringify(call.request.prompt).includes(ATTACHED));
    expectNumber('model calls that show the file', shown.length, model.calls.length);
  }
  return takeover === undefined ? 1 : 2;
}

/**
 * Accounts are written at every start, when readiness is asked and by every change. Beginning with an empty folder, the
 * process dies at the first write, at the second, and so on, until it becomes ready and dies by a change.
 */
async function killAccounts(point: WaitPoint, stride: number, setting: Setting): Promise<number> {
  for (let time = 1, kills = 1; ; time += stride, kills += 1) {
    await using rig = await Rig.open(setting);
    rig.model.answerAll(ANSWER);
    const doomed = await startDoomed(rig, { killAt: point, killAfter: time });
    const isReady = (await doomed?.api.get('/readyz').catch(() => null))?.status === 200;
    const isMade =
      isReady &&
      (await rig.prepare(FIELDS).then(
        () => true,
        () => false,
      ));
    if (isMade) doomed?.api.put(MEMBER, {}).catch(() => {});
    if (doomed !== null) await died(doomed);
    rig.servers.length = 0;
    const server = await rig.add();
    const isDurable = isMade || (isReady && point === 'account.after-commit');
    expectNumber(
      'status of the integration after the kill',
      (await server.api.get(PATH)).status,
      isDurable ? 200 : 404,
    );
    if (!isDurable) await rig.prepare(FIELDS);
    await server.api.put(MEMBER, {});
    const questions = { ...setting, rig, outcome: 'none', seen: null, request: REQUEST, isCompacted: false } as const;
    await askAll(server, questions);
    if (isReady) return kills;
  }
}

interface Job {
  readonly label: string;
  readonly points: readonly WaitPoint[];
  readonly run: () => Promise<number>;
}

export const proof: Proof = {
  name: 'kill-anywhere',
  minutes: 3,
  faults: { 'leave-orphans': /ended runs within \d+ ms of readiness: expected 1, found 0/ },
  async run({ fault, scale }) {
    // A busy machine gets three times the promised time. A start takes runs over before it is ready, so the fault shows soon.
    const setting = { fault, endedWithinMs: fault === null ? scale(45_000, 15_000) : 3000 };
    await using template = await Rig.start();
    await template.prepare(FIELDS, REQUEST.consumerId);
    await template.server().kill('SIGTERM');
    const accounts = (['account.after-commit', 'account.before-commit'] as const).map((point): Job => {
      const run = () => killAccounts(point, scale(2, 1), setting);
      return { label: `${point} (start and change)`, points: [point], run };
    });
    const runs = [...CRASH_CASES, ...scale([], FURTHER_CASES)].map((crash): Job => {
      const run = () => killRun(crash, template.dataDir, setting);
      return { label: labelOf(crash), points: crash.takeover ? [crash.point, crash.takeover] : [crash.point], run };
    });
    // The longest first, so that no lane ends with it. The fault shows in runs.
    const all = fault === null ? [...accounts, ...runs] : runs;
    const jobs = all.filter((_, place) => place % scale(3, 1) === 0);
    const reached = new Set<WaitPoint>();
    let kills = 0;
    const labelled = jobs.map((job) => [job.label, job] as const);
    await inLanes(fault === null ? LANES : 1, labelled, async ({ label, points, run }) => {
      const killed = await run();
      kills += killed;
      for (const point of points) reached.add(point);
      process.stdout.write(`killed ${killed} at ${label}\n`);
    });
    const points = scale(new Set(jobs.flatMap((job) => job.points)).size, WAIT_POINTS.length);
    return { points, killed: expectNumber('points', reached.size, points), kills };
  },
};
