import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { type ModelCall, Rig, SHORT_LEASE, type StreamReader } from '@runwire/test-kit';
import { OtlpReceiver, type ReceivedSpan } from '@runwire/test-kit/otlp-receiver.ts';
import { count, scale } from '@runwire/test-kit/scale.ts';
import { expectAtLeast, expectEqual, until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';

/*
 * Runs with tools, with delegated agents, runs that fail, that are cancelled, and that another node continues after a SIGKILL of
 * their node. An OTLP receiver reads their traces back: each run is one tree with the spans, kinds and attributes of docs/traces.md.
 */

const KINDS = ['tools', 'delegated', 'failed', 'cancelled', 'taken-over'] as const;
type Kind = (typeof KINDS)[number];
const TEXT = 'planted-text';
const SECRET = 'planted-secret';
const SPANS_MS = 20_000;

/** What the model sends at an agent's turn. */
type Turn = (call: ModelCall, runId: string) => Promise<void>;

const says: Turn = async (call) => {
  await call.text(TEXT);
  await call.end();
};

const calls =
  (...made: readonly (readonly [id: string, name: string, input: object])[]): Turn =>
  async (call, runId) => {
    for (const [id, name, input] of made) await call.toolCall(`${runId}-${id}`, name, JSON.stringify(input));
    await call.end();
  };

const ask = (id: string, to: string) =>
  calls([id, 'send_message', { recipient_agent: to, message: TEXT, additional_instructions: TEXT }]);

/** The turns of the agents, by the kind of the run. `port` is that of the tools' gate. */
const script = (port: number): Readonly<Record<Kind, Readonly<Record<string, readonly Turn[]>>>> => ({
  tools: {
    Desk: [calls(['a', 'gate_again', { port }], ['b', 'gate_again', { port, planted: TEXT }]), says],
  },
  delegated: {
    Desk: [calls(['h', 'transfer_to_Lead', {}])],
    Lead: [ask('r', 'Research'), says],
    Research: [ask('c', 'Clerk'), says],
    Clerk: [says],
  },
  failed: {
    Desk: [
      async (call) => {
        await call.text(TEXT);
        await call.fail('model_error', TEXT);
      },
    ],
  },
  // Its answer does not end.
  cancelled: { Desk: [(call) => call.text(TEXT)] },
  'taken-over': { Desk: [calls(['a', 'gate_again', { port, planted: TEXT }]), says] },
});

type Row = readonly [name: string, kind: string, parent: string, attempt: number | null, failure: string | null];

const CALLER = 'the caller';
const DESK = 'invoke_agent Desk';
const POST: Row = ['POST /get_completion_v2', 'server', CALLER, null, null];
const chat = (agent: string, failure: string | null = null, attempt = 1): Row => [
  'chat model',
  'client',
  `invoke_agent ${agent}`,
  attempt,
  failure,
];
const agent = (name: string, parent: string, failure: string | null = null, attempt = 1): Row => [
  `invoke_agent ${name}`,
  'internal',
  parent,
  attempt,
  failure,
];
const tool = (name: string, attempt = 1): Row => [`execute_tool ${name}`, 'internal', DESK, attempt, null];

/** The spans of a run. A killed node exports neither the agent's span nor the request's, because they had not ended. */
const TREES: Readonly<Record<Kind, readonly Row[]>> = {
  tools: [POST, agent('Desk', CALLER), chat('Desk'), tool('gate_again'), tool('gate_again'), chat('Desk')],
  delegated: [
    ...[POST, agent('Desk', CALLER), chat('Desk'), tool('transfer_to_Lead'), chat('Desk'), chat('Desk')],
    ...[agent('Research', DESK), chat('Research'), chat('Research')],
    ...[agent('Clerk', 'invoke_agent Research'), chat('Clerk')],
  ],
  failed: [POST, agent('Desk', CALLER, 'model_error'), chat('Desk', 'model_error')],
  cancelled: [POST, agent('Desk', CALLER, 'cancelled'), chat('Desk', 'cancelled')],
  'taken-over': [
    ['chat model', 'client', 'killed', 1, null],
    ...[agent('Desk', CALLER, null, 2), chat('Desk', null, 2), tool('gate_again', 2), chat('Desk', null, 2)],
  ],
};

const RUN = ['runwire.run.id', 'runwire.integration.id', 'runwire.attempt', 'runwire.replayed'];
const AGENT = ['gen_ai.operation.name', 'gen_ai.agent.name', 'gen_ai.conversation.id'];
const MODEL = ['gen_ai.provider.name', 'gen_ai.request.model'];
const USAGE = ['input_tokens', 'output_tokens', 'cache_read.input_tokens', 'reasoning.output_tokens'].map(
  (name) => `gen_ai.usage.${name}`,
);
/** The attributes of spans, besides `error.type`. A step from the journal has no usage. */
const ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  POST: ['http.request.method', 'http.route', 'url.scheme', 'http.response.status_code'],
  invoke_agent: [...RUN, ...AGENT, ...MODEL, ...USAGE],
  chat: [...RUN, ...AGENT, ...MODEL, ...USAGE],
  replayed: [...RUN, ...AGENT, ...MODEL],
  execute_tool: [...RUN, ...AGENT, 'gen_ai.tool.name', 'gen_ai.tool.call.id', 'gen_ai.tool.type'],
};

interface TracedRun {
  readonly kind: Kind;
  readonly runId: string;
  readonly traceId: string;
  readonly parentId: string;
  readonly reader: StreamReader;
}

/** Plays each agent's turns of each run. */
function playAll({ model, gate }: Rig): void {
  const turns = script(gate.port);
  const played = new Map<string, number>();
  model.onCall = (call) => {
    const { runId, instructions, prompt } = call.request;
    const name = /You are (\w+)\./.exec(instructions)?.[1] ?? '';
    const first = prompt.find(({ kind }) => kind === 'user');
    const said = first?.kind === 'user' ? first.text.split(' ', 1)[0] : '';
    // A delegated agent reads its sender's message, not the user's.
    const kind = KINDS.find((one) => one === said) ?? 'delegated';
    const key = `${runId} ${name}`;
    const turn = played.get(key) ?? 0;
    played.set(key, turn + 1);
    void turns[kind][name]?.[turn]?.(call, runId);
  };
}

async function begin(rig: Rig, kind: Kind, node: number): Promise<TracedRun> {
  const traceId = randomBytes(16).toString('hex');
  const parentId = randomBytes(8).toString('hex');
  const body = {
    apiIntegrationId: rig.integration,
    chatId: traceId,
    message: `${kind} ${TEXT}`,
    user_context: { token: SECRET },
  };
  const reader = await rig.api(node).complete(body, { traceparent: `00-${traceId}-${parentId}-01` });
  expectEqual(`${kind}: status`, reader.status, 200);
  return { kind, runId: String(reader.headers['x-run-id']), traceId, parentId, reader };
}

/** The rows of the run's trace, as the table lists them. */
function toRows(spans: readonly ReceivedSpan[], { kind, parentId }: TracedRun): string[] {
  const names = new Map(spans.map(({ spanId, name }) => [spanId, name]));
  return spans
    .map(({ name, kind: spanKind, parentId: parent, attributes, hasFailed }) => {
      const missing = kind === 'taken-over' ? 'killed' : 'missing';
      const above = parent === parentId ? CALLER : (names.get(parent) ?? missing);
      const failure = hasFailed ? attributes['error.type'] : null;
      return JSON.stringify([name, spanKind, above, attributes['runwire.attempt'] ?? null, failure]);
    })
    .sort();
}

function checkAttributes({ name, attributes }: ReceivedSpan): void {
  const [first = ''] = name.split(' ');
  const isReplayed = first === 'chat' && attributes['runwire.replayed'] === true;
  const found = Object.keys(attributes).filter((key) => key !== 'error.type');
  expectEqual(`attributes of ${name}`, found.sort(), [...(ATTRIBUTES[isReplayed ? 'replayed' : first] ?? [])].sort());
}

/** Checks one run's tree and usage. Returns the number of its spans. */
async function checkRun(rig: Rig, receiver: OtlpReceiver, run: TracedRun): Promise<number> {
  const { kind, runId, traceId } = run;
  const expected = TREES[kind].map((row) => JSON.stringify(row)).sort();
  const arrived = () => receiver.trace(traceId).length >= expected.length;
  // If spans are missing, the comparison names them.
  await until(`spans of ${kind}`, arrived, { limitMs: SPANS_MS }).catch(() => {});
  expectEqual(`${kind}: planted words in the export`, receiver.raw.match(/planted-\w+/g)?.length ?? 0, 0);
  const spans = receiver.trace(traceId);
  const others = receiver.spans.filter(
    (span) => span.attributes['runwire.run.id'] === runId && span.traceId !== traceId,
  );
  expectEqual(`${kind}: spans of the run in other traces`, others.length, 0);
  expectEqual(`${kind}: spans`, toRows(spans, run), expected);
  for (const span of spans) checkAttributes(span);
  const { usage } = (await rig.api(1).get(`${rig.path}/runs/${runId}`)).body;
  const chats = spans.filter(({ name }) => name.startsWith('chat'));
  const sum = (name: string) => chats.reduce((total, span) => total + Number(span.attributes[name] ?? 0), 0);
  const found = USAGE.map(sum);
  const { input_tokens: input, output_tokens: output, cached_tokens: cached, reasoning_tokens: reasoning } = usage;
  expectEqual(`${kind}: usage`, found, [input, output, cached, reasoning]);
  return spans.length;
}

test('a run is one trace, whatever happens to it, and its contents are not exported', async () => {
  const perKind = scale(2, 30);
  await using receiver = await OtlpReceiver.start();
  await using rig = await Rig.start({
    nodes: 3,
    limits: SHORT_LEASE,
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
  });
  await rig.prepare({ apiIntegrationId: 'traced', agency: 'team' });
  playAll(rig);
  const openAll = () => {
    rig.gate.onCall = ({ callId }) => rig.gate.open(callId, TEXT);
  };
  openAll();
  const runs: TracedRun[] = [];
  for (const kind of KINDS.filter((one) => one !== 'taken-over')) {
    for (let index = 0; index < perKind; index += 1) {
      const run = await begin(rig, kind, index);
      runs.push(run);
      if (kind === 'cancelled') {
        await within('the text of a run', WAIT_MS, run.reader.untilText(TEXT));
        await rig.api(index + 1).post(`${rig.path}/runs/${run.runId}/cancel`);
      }
      await within(`the end of a run (${kind})`, WAIT_MS, run.reader.over);
    }
  }
  rig.gate.onCall = null;
  for (let index = 0; index < perKind; index += 1) {
    const run = await begin(rig, 'taken-over', 0);
    runs.push(run);
    await within('a held call', WAIT_MS, rig.gate.holds(`${run.runId}-a`));
  }
  const taken = runs.filter(({ kind }) => kind === 'taken-over');
  const hasFirst = ({ traceId }: TracedRun) => receiver.trace(traceId).some(({ name }) => name.startsWith('chat'));
  await until('the export of the first calls', () => taken.every(hasFirst));
  openAll();
  await rig.server(0).kill();
  for (const { reader } of taken) await rig.follow(reader, { servers: () => rig.servers.slice(1) });
  let spans = 0;
  for (const run of runs) spans += await checkRun(rig, receiver, run);
  expectAtLeast('spans', spans, runs.length * 3);
  count({ runs: runs.length, traces: new Set(runs.map(({ traceId }) => traceId)).size, spans, planted: 0 });
});
