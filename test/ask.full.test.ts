import { test } from 'node:test';
import {
  type ApiClient,
  agencyProcess,
  type HeldToolCall,
  type ModelCall,
  Rig,
  type ServerProcess,
  SHORT_LEASE,
  type StreamReader,
  type WaitPoint,
} from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { addTo, expectEqual, named, Shortfall, until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { inLanes } from './support/lanes.ts';
import { checkOpenCall, killProcess, noKills, outputForModel, UNKNOWN } from './support/process-kills.ts';
import { ProviderJudges } from './support/provider-judges.ts';
import { type Body, whole } from './support/story.ts';

/*
 * A model wants to pay, and a person must approve it. The tool is served, and its calls counted, in this process. Servers
 * are killed at every wait point of the request that asks and of the request that answers, alone and as one of three nodes,
 * and so are the processes in which they run the tool.
 * Then questions are approved, declined, ignored, answered by others, a hundred times and after 30 days. An approved call
 * is made once, with exactly the approved arguments, and no other. An answer can allow a tool for its chat, and for no other. Every adapter sends every prompt to a provider that refuses what the real one refuses.
 */

const AGENCY = 'asking';
const INTEGRATION = { apiIntegrationId: 'ask', agency: AGENCY };
const DAYS_30 = 30 * 86_400_000;
const PAID = 'paid';
const LANES = 2;

const POINTS = [
  ...(['admit', 'step', 'end'] as const).flatMap((name): WaitPoint[] => [
    `${name}.before-commit`,
    `${name}.after-commit`,
  ]),
  ...(['header', 'first-byte', 'messages', 'end-frame', 'settle'] as const).flatMap((name): WaitPoint[] => [
    `${name}.before`,
    `${name}.after`,
  ]),
];

interface Kill {
  readonly phase: 'ask' | 'answer';
  readonly at: WaitPoint;
  readonly time: number;
}

/** The answering run stores that the call begins, its outcome, and its end. */
const KILLS: readonly Kill[] = [
  ...POINTS.map((at) => ({ phase: 'ask', at, time: 1 }) as const),
  ...POINTS.map((at) => ({ phase: 'answer', at, time: 1 }) as const),
  ...(['step.before-commit', 'step.after-commit'] as const).map((at) => ({ phase: 'answer', at, time: 2 }) as const),
];

/** After these kills it cannot be known whether the call took effect. */
const isOpenAt = ({ phase, at, time }: Kill) =>
  phase === 'answer' && ((at === 'step.after-commit' && time === 1) || (at === 'step.before-commit' && time === 2));

/** Half of the kills meet an approval with other arguments. */
const isChangedAt = ({ phase }: Kill) => phase === 'answer';

/** Plays all agents. A message names what to do and how the calls begin's ids: `pay two c7`. */
function play({ model, gate }: Rig): void {
  model.onCall = (call) => void answer(call, gate.port).catch(() => {});
  gate.onCall = ({ callId }: HeldToolCall) => gate.open(callId, PAID);
}

async function answer(call: ModelCall, port: number): Promise<void> {
  const last = call.request.prompt.at(-1);
  const [verb, what, id = what] = last?.kind === 'user' ? last.text.split(' ') : [];
  const agent = /You are (\w+)/.exec(call.request.instructions)?.[1];
  const pay = (place: string) => call.toolCall(`${id}-${place}`, 'pay', JSON.stringify({ port }));
  if (verb === 'pay' && what === 'far' && agent !== 'Clerk') {
    const to = agent === 'Lead' ? 'Billing' : 'Clerk';
    await call.toolCall(
      `${id}-${to}`,
      'send_message',
      JSON.stringify({ recipient_agent: to, message: `pay far ${id}` }),
    );
  } else if (verb === 'pay') {
    await pay('a');
    if (what === 'two') await pay('b');
  } else if (verb === 'find') await call.toolCall(`${id}-a`, 'locate', '{}');
  else await call.text('Done.');
  await call.end();
}

type Completion = Parameters<ApiClient['complete']>[0];

const getBody = (chatId: string, more: object): Completion => ({
  apiIntegrationId: INTEGRATION.apiIntegrationId,
  chatId,
  ...more,
});

const messages = ({ frames }: StreamReader): Body =>
  JSON.parse(frames.find(({ event }) => event === 'messages')?.data ?? '{}');

/** A run that has ended with questions. */
interface OpenRun {
  readonly chatId: string;
  readonly runId: string;
  readonly pending: readonly { readonly question_id: string; readonly call_id: string }[];
}

/** Sends a request until its answer arrives whole. */
async function send(apis: () => readonly ApiClient[], body: Completion): Promise<Body> {
  let last = '';
  for (let turn = 0; turn < 3; turn += 1) {
    const reader = await (apis()[0] as ApiClient).complete(body);
    const isWhole = await within('end of a stream', 2 * WAIT_MS, reader.over);
    if (isWhole && reader.status === 200) return messages(reader);
    last = `${reader.status} ${reader.text.slice(-300)}`;
  }
  throw new Shortfall(`a request got no whole answer: ${last}`);
}

async function askFor(apis: () => readonly ApiClient[], chatId: string, message = `pay ${chatId}`): Promise<OpenRun> {
  const end = await send(apis, getBody(chatId, { message, usageRequestId: `${chatId}-ask` }));
  const what = `end of the asking run ${end.run_id} with ${JSON.stringify(end.new_messages)}`;
  expectEqual(what, [end.status, end.pending.length > 0], ['completed', true]);
  return { chatId, runId: end.run_id, pending: end.pending };
}

const approve = ({ pending }: OpenRun) => pending.map(({ question_id: questionId }) => ({ questionId, approve: true }));

/** The same with other arguments. */
const change = (asked: OpenRun, { gate }: Rig) =>
  approve(asked).map((one) => ({ ...one, arguments: { port: gate.port, note: 'changed' } }));
const changedOutput = ({ gate }: Rig) =>
  `A person changed the arguments to {"port":${gate.port},"note":"changed"}.\n${PAID}`;
/** The arguments that differ between calls. */
const notes = ({ gate }: Rig, callId: string) =>
  gate.calls.filter((call) => call.callId === callId).map(({ note = null }) => note);

/** How often a call was made. */
const made = ({ gate }: Rig, callId: string) => gate.calls.filter((call) => call.callId === callId).length;

/** Asks and answers, while a server dies. Alone, the next one continues; of several, another one does. */
async function killOne(rig: Rig, kill: Kill, name: string): Promise<void> {
  let server: ServerProcess = rig.server();
  const apis = () => [server.api];
  /** Sends the request to a server that dies of it. */
  const die = async (body: Completion) => {
    if (rig.isEmbedded) await server.kill();
    const doomed = await rig.add({ killAt: kill.at, killAfter: kill.time });
    const reader = await doomed.api.complete(body).catch(() => null);
    await within(`death at ${kill.at}`, WAIT_MS, doomed.gone);
    await reader?.over;
    rig.servers.splice(rig.servers.indexOf(doomed), 1);
    if (rig.isEmbedded) server = await rig.add();
  };
  const asking = { message: `pay ${name}`, usageRequestId: `${name}-ask` };
  if (kill.phase === 'ask') await die(getBody(name, asking));
  const asked = await askFor(apis, name);
  expectEqual('calls before the answer', made(rig, `${name}-a`), 0);
  const approval = isChangedAt(kill) ? change(asked, rig) : approve(asked);
  const answers = getBody(name, { message: '', answers: approval, usageRequestId: `${name}-answer` });
  if (kill.phase === 'answer') await die(answers);
  const end = await send(apis, answers);
  expectEqual('end of the answering run', [end.status, end.pending], ['completed', []]);
  await checkCall(rig, asked, kill);
  const next = await send(apis, getBody(name, { message: 'Thanks.', usageRequestId: `${name}-next` }));
  expectEqual('end of the next turn', next.status, 'completed');
}

async function checkCall(rig: Rig, { chatId, runId }: OpenRun, kill: Kill): Promise<void> {
  const callId = `${chatId}-a`;
  const output = outputForModel(rig, callId) ?? '';
  const count = made(rig, callId);
  if (isOpenAt(kill)) {
    expectEqual('text about a call that was open', UNKNOWN.test(output), true);
    expectEqual('calls that were open, at most 1', Math.max(count, 1), 1);
  } else checkMade(rig, callId, isChangedAt(kill));
  const keys = rig.gate.calls.filter((call) => call.callId === callId).map(({ idempotencyKey }) => idempotencyKey);
  for (const key of keys) expectEqual('idempotency key', key, `${runId}/${callId}`);
}

/** A call was made once, with the approved arguments. */
function checkMade(rig: Rig, callId: string, isChanged: boolean): void {
  const found = [made(rig, callId), ...notes(rig, callId), outputForModel(rig, callId) ?? ''];
  const expected = isChanged ? [1, 'changed', changedOutput(rig)] : [1, null, PAID];
  expectEqual('executions of an approved call, its arguments and its output', found, expected);
}

/** Until these points of the answering run its call may not have ended. */
const mayBeOpenAt = ({ phase, at, time }: Kill) =>
  phase === 'answer' && (/^(admit|header|first-byte)\./.test(at) || (at.startsWith('step.') && time === 1));

/** Asks and answers, while the process of the agency dies at a point. The same server continues. */
async function killProcessAt(rig: Rig, kill: Kill, name: string, sums: Sums): Promise<void> {
  let server: ServerProcess;
  const apis = () => [server.api];
  const untilKilled = () =>
    until(`kill at ${kill.at}`, async () => (await agencyProcess(server.api, AGENCY)).restarts === 1);
  const add = async (killAt: object) => {
    await Promise.all(rig.servers.map((one) => one.kill()));
    rig.servers.length = 0;
    server = await rig.add(killAt);
  };
  const doomed = { killAt: kill.at, killAfter: kill.time, killsAgencies: true };
  await add(kill.phase === 'ask' ? doomed : {});
  const asked = await askFor(apis, name);
  if (kill.phase === 'ask') await untilKilled();
  else await add(doomed);
  expectEqual('calls before the answer', made(rig, `${name}-a`), 0);
  const approval = isChangedAt(kill) ? change(asked, rig) : approve(asked);
  const answers = getBody(name, { message: '', answers: approval, usageRequestId: `${name}-answer` });
  const end = await send(apis, answers);
  expectEqual('end of the answering run', [end.status, end.pending], ['completed', []]);
  await untilKilled();
  const output = outputForModel(rig, `${name}-a`) ?? '';
  const count = made(rig, `${name}-a`);
  const isUnknown = mayBeOpenAt(kill) && UNKNOWN.test(output);
  if (isUnknown) expectEqual('calls that were open, at most 1', Math.max(count, 1), 1);
  else checkMade(rig, `${name}-a`, isChangedAt(kill));
  addTo(sums, { process_kills: 1, unknown_calls: Number(isUnknown) });
}

/** The process dies while it makes the approved call. */
async function killDuringCall(rig: Rig, sums: Sums): Promise<void> {
  const server = rig.server();
  const asked = await askFor(() => [server.api], 'open');
  rig.gate.onCall = null;
  const answers = getBody('open', { message: '', answers: approve(asked), usageRequestId: 'open-answer' });
  const end = send(() => [server.api], answers);
  await within('call of the tool', WAIT_MS, rig.gate.holds('open-a'));
  expectEqual('calls of the process', [...(await killProcess(rig, AGENCY, server))], ['open-a']);
  expectEqual('end of the answering run', (await end).status, 'completed');
  const calls = noKills();
  checkOpenCall(rig, 'open-a', false, calls);
  addTo(sums, { process_kills: 1, unknown_calls: calls.unknown_calls });
}

type Sums = Record<
  'kills' | 'node_kills' | 'process_kills' | 'unknown_calls' | 'answered' | 'refused' | 'prompts',
  number
>;

async function judge(judges: ProviderJudges, { model }: Rig, sums: Sums): Promise<void> {
  for (const { request } of model.calls) {
    expectEqual('refusals of a prompt', await judges.refusals(request), {});
    sums.prompts += 1;
  }
}

/** Many answers to one question at the same time, to all servers: repeated ones are one run, and of rivals one counts. */
async function crowds(rig: Rig, apis: () => readonly ApiClient[], sums: Sums, many: number): Promise<void> {
  for (const isSame of [true, false]) {
    const chatId = isSame ? 'same' : 'rivals';
    const crowd = await askFor(apis, chatId);
    const sent = Array.from({ length: many }, async (_, place) => {
      const usageRequestId = isSame ? 'same-answer' : `rival-${place}`;
      const all = apis();
      const reader = await (all[place % all.length] as ApiClient).complete(
        getBody(chatId, { message: '', answers: approve(crowd), usageRequestId }),
      );
      await reader.over;
      return reader.status;
    });
    const admitted = (await Promise.all(sent)).filter((status) => status === 200).length;
    expectEqual('answers of many that count', admitted, isSame ? many : 1);
    expectEqual('executions of many answers', made(rig, `${chatId}-a`), 1);
    sums.answered += many;
  }
}

/** An agency's tool in a folder. It is served and counted like `pay` of the other agencies. */
const payFile = (version: number, needsApproval: boolean) => `import { connect } from 'node:net';
export const pay = {
  description: 'Pays.',
  inputSchema: { type: 'object' },
  needsApproval: ${needsApproval},
  execute: ({ port }, { callId, idempotencyKey }) =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', reject);
      socket.once('data', (data) => {
        socket.end();
        resolve(\`\${String(data).trim()} by version ${version}\`);
      });
      socket.write(\`\${JSON.stringify({ callId, idempotencyKey })}\\n\`);
    }),
};
`;

const folderAgency = (tools: string) => `name: Edited
toolFiles: [./tools.ts]
agents:
  - { name: Lead, instructions: You are Lead., files: false, tools: [${tools}] }
`;

/** The agency's files are edited between question and answer: the new version makes the approved call. */
async function editedFiles(rig: Rig, folder: AgenciesFolder, sums: Sums): Promise<void> {
  const apis = () => rig.servers.slice(-1).map(({ api }) => api);
  const api = apis()[0] as ApiClient;
  const version = async () => {
    const { items } = (await api.get('/v2/agencies')).body;
    return items.find(({ agency }: { readonly agency: string }) => agency === 'edited')?.version;
  };
  const edit = async (file: string, text: string) => {
    const before = await version();
    folder.write({ [`edited/${file}`]: text });
    await until('load of the edited agency', async () => (await version()) !== before);
  };
  await api.patch(rig.path, { agency: 'edited' });
  const settle = async (asked: OpenRun) => {
    const { chatId } = asked;
    const body = getBody(chatId, { message: '', answers: approve(asked), usageRequestId: `${chatId}-answer` });
    expectEqual('end of the answering run', (await send(apis, body)).status, 'completed');
    sums.answered += 1;
  };
  const changed = await askFor(apis, 'changed');
  await edit('tools.ts', payFile(2, false));
  await settle(changed);
  const output = [made(rig, 'changed-a'), outputForModel(rig, 'changed-a')];
  expectEqual('executions after an edit of its file, and the output', output, [1, `${PAID} by version 2`]);
  await edit('tools.ts', payFile(3, true));
  const removed = await askFor(apis, 'removed');
  await edit('agency.yaml', folderAgency(''));
  await settle(removed);
  expectEqual('executions of a tool that was removed', made(rig, 'removed-a'), 0);
  await api.patch(rig.path, { agency: INTEGRATION.agency });
}

/** Everything that callers can do with questions, on one server. */
async function decisions(rig: Rig, sums: Sums, many: number): Promise<void> {
  const apis = () => rig.servers.slice(-1).map(({ api }) => api);
  const reply = (chatId: string, more: object) =>
    getBody(chatId, { message: '', usageRequestId: `${chatId}-answer`, ...more });
  const settle = async (asked: OpenRun, more: object) => {
    const end = await send(apis, reply(asked.chatId, more));
    expectEqual('end of the answering run', end.status, 'completed');
    sums.answered += 1;
  };
  const executions = (...ids: readonly string[]) => ids.map((id) => made(rig, id));
  const refused = async (body: Completion, code: string) => {
    const reader = await (apis()[0] as ApiClient).complete(body);
    await reader.over;
    expectEqual('refusal', reader.status === 200 ? 'admitted' : JSON.parse(reader.text).code, code);
    sums.refused += 1;
  };

  const approved = await askFor(apis, 'approve');
  expectEqual('executions before an answer', executions('approve-a'), [0]);
  await settle(approved, { answers: approve(approved) });
  expectEqual('executions of an approved call', executions('approve-a'), [1]);
  await refused(reply('approve', { answers: approve(approved), usageRequestId: 'again' }), 'question_not_pending');
  expectEqual('executions after a second answer', executions('approve-a'), [1]);

  const changed = await askFor(apis, 'change');
  const wrong = approve(changed).map((one) => ({ ...one, arguments: { port: 'none' } }));
  await refused(reply('change', { answers: wrong, usageRequestId: 'wrong-change' }), 'invalid_request');
  await settle(changed, { answers: change(changed, rig) });
  expectEqual('arguments of a changed call', notes(rig, 'change-a'), ['changed']);
  expectEqual('output of a changed call', outputForModel(rig, 'change-a'), changedOutput(rig));

  const trusted = await askFor(apis, 'trust');
  await settle(trusted, { answers: approve(trusted).map((one) => ({ ...one, remember: 'chat' })) });
  const further = await send(apis, getBody('trust', { message: 'pay further', usageRequestId: 'further' }));
  const found = [further.pending, ...executions('trust-a', 'further-a')];
  expectEqual('questions and executions in a chat that allows the tool', found, [[], 1, 1]);

  const declined = await askFor(apis, 'decline');
  const no = declined.pending.map(({ question_id: questionId }) => ({ questionId, approve: false, reason: 'No.' }));
  await settle(declined, { answers: no });
  await settle(await askFor(apis, 'ignore'), { message: 'Never mind.' });
  const half = await askFor(apis, 'half', 'pay two half');
  await settle(half, { answers: approve(half).slice(0, 1) });
  expectEqual('executions', executions('decline-a', 'ignore-a', 'half-a', 'half-b'), [0, 0, 1, 0]);

  const other = await askFor(apis, 'other');
  await refused(reply('elsewhere', { answers: approve(other) }), 'question_not_pending');
  await refused(reply('decline', { answers: approve(other), usageRequestId: 'wrong' }), 'question_not_pending');
  await refused(reply('other', { answers: approve(other), consumerId: 'ann' }), 'chat_not_found');
  const altered = other.pending.map(({ question_id: questionId }) => ({ questionId, approve: true, arguments: {} }));
  await refused(reply('other', { answers: altered }), 'invalid_request');
  await (apis()[0] as ApiClient).delete(`${rig.path}/chats/other`);
  await refused(reply('other', { answers: approve(other) }), 'question_not_pending');
  expectEqual('executions for others', executions('other-a'), [0]);

  const far = await askFor(apis, 'far', 'pay far far');
  await settle(far, { answers: approve(far) });
  expectEqual('executions inside a nested delegation', executions('far-a'), [1]);
  const position = await askFor(apis, 'find', 'find find');
  await settle(position, {
    answers: position.pending.map(({ question_id: questionId }) => ({ questionId, output: { lat: 1 } })),
  });
  expectEqual('output of the caller', outputForModel(rig, 'find-a'), '{"lat":1}');

  await crowds(rig, apis, sums, many);

  for (const [agency, count] of [
    ['trusting', 1],
    ['empty', 0],
  ] as const) {
    const before = await askFor(apis, agency);
    const edit = await (apis()[0] as ApiClient).patch(rig.path, { agency });
    expectEqual('edit of the agency', edit.status, 200);
    await settle(before, { answers: approve(before) });
    expectEqual('executions after an edit', executions(`${agency}-a`), [count]);
    await whole((apis()[0] as ApiClient).complete(reply(agency, { message: 'Next.', usageRequestId: `${agency}-n` })));
    await (apis()[0] as ApiClient).patch(rig.path, { agency: INTEGRATION.agency });
  }
}

async function afterMonths(rig: Rig): Promise<void> {
  const apis = () => rig.servers.slice(-1).map(({ api }) => api);
  const later = await askFor(apis, 'later');
  await rig.server().kill();
  await rig.add({ aheadMs: DAYS_30 });
  const end = await send(
    apis,
    getBody('later', { message: '', answers: approve(later), usageRequestId: 'later-answer' }),
  );
  expectEqual('answer after 30 days', [end.status, made(rig, 'later-a')], ['completed', 1]);
  const allowed = await send(apis, getBody('trust', { message: 'pay months', usageRequestId: 'months' }));
  expectEqual('call of a tool that was allowed 30 days ago', [allowed.pending, made(rig, 'months-a')], [[], 1]);
  await (apis()[0] as ApiClient).patch(`${rig.path}/chats/trust`, { approvals: [] });
  const asked = await send(apis, getBody('trust', { message: 'pay asked', usageRequestId: 'asks-again' }));
  expectEqual('questions after the approval was removed', [asked.pending.length, made(rig, 'asked-a')], [1, 0]);
}

type LabelledKill = readonly [label: string, kill: Kill];

async function killProcesses(kills: readonly LabelledKill[], judges: ProviderJudges, sums: Sums): Promise<void> {
  await inLanes(LANES, kills, async (kill) => {
    await using rig = await Rig.open({ agencyFolders: [AGENCY] });
    await rig.add();
    await rig.prepare(INTEGRATION);
    play(rig);
    await named('process', killProcessAt(rig, kill, 'c1', sums));
    if (kill === kills[0]?.[1]) await named('process', killDuringCall(rig, sums));
    await judge(judges, rig, sums);
  });
}

test('an approved call is made once, wherever servers and processes are killed', async () => {
  const fault = plantedFault();
  const sums: Sums = {
    kills: 0,
    node_kills: 0,
    process_kills: 0,
    unknown_calls: 0,
    answered: 0,
    refused: 0,
    prompts: 0,
  };
  await using judges = await ProviderJudges.open();
  {
    using folder = new AgenciesFolder({
      'edited/agency.yaml': folderAgency('pay'),
      'edited/tools.ts': payFile(1, true),
    });
    const env = { RUNWIRE_AGENCIES_DIR: folder.path, RUNWIRE_AGENCIES_WATCH: 'true' };
    await using rig = await Rig.start({ fault, env });
    await rig.prepare(INTEGRATION, 'ann');
    play(rig);
    await decisions(rig, sums, scale(20, 100));
    await editedFiles(rig, folder, sums);
    await afterMonths(rig);
    await judge(judges, rig, sums);
  }
  if (fault !== null) return;
  const kills = KILLS.filter((_, place) => place % scale(5, 1) === 0);
  const labelled = kills.map((kill) => [`${kill.phase} at ${kill.at} ${kill.time}`, kill] as const);
  await inLanes(LANES, labelled, async (kill) => {
    await using rig = await Rig.open({ agencyFolders: [AGENCY] });
    await rig.add();
    await rig.prepare(INTEGRATION);
    play(rig);
    await killOne(rig, kill, 'c1');
    addTo(sums, { kills: 1 });
    await judge(judges, rig, sums);
  });
  await killProcesses(labelled, judges, sums);
  await using rig = await Rig.start({ nodes: 3, limits: SHORT_LEASE, agencyFolders: [AGENCY] });
  await rig.prepare(INTEGRATION);
  play(rig);
  const nodes = rig.servers.map(({ api }) => api);
  await named(
    'nodes',
    crowds(rig, () => nodes, sums, scale(20, 100)),
  );
  await inLanes(LANES, labelled, async (kill) => {
    // Some providers accept no dots in the ids of calls.
    const name = `${kill.phase}-${kill.at.replace('.', '-')}-${kill.time}`;
    await named('nodes', killOne(rig, kill, name));
    addTo(sums, { node_kills: 1 });
  });
  await judge(judges, rig, sums);
  count({ ...sums, twice: 0, without_approval: 0 });
});
