import { type Frame, ModelController, type ServerProcess } from '@runwire/test-kit';
import { DataFolder } from './support/data-folder.ts';
import { Nginx } from './support/nginx.ts';
import { expectEqual, expectNumber, type Proof, within } from './support/proof.ts';
import { Relay } from './support/relay.ts';
import { startServer } from './support/start-server.ts';
import { type Reading, STREAM_CLIENTS, type StreamClient, type StreamRequest } from './support/stream-clients.ts';

const INTEGRATION = 'demo';
const FULL_TOKENS = 200;
const SHORT_TOKENS = 20;
const WAIT_MS = 60_000;
/** A token that is held back does not come at all: nobody has to wait long to see it. */
const FAULT_WAIT_MS = 10_000;

interface Stage {
  readonly server: ServerProcess;
  readonly model: ModelController;
  readonly proxyUrl: string;
  readonly tokens: number;
  readonly waitMs: number;
}

/** Text that must not be cut, doubled or taken for a line end: every client gets the same. */
const token = (n: number) => `token ${n} é\u{1F600}\u2028\r\n `;

/** The frames as the server itself sends them, without a proxy. */
async function directFrames(server: ServerProcess, runId: string): Promise<Frame[]> {
  const reader = await server.api.events(runId, null, INTEGRATION);
  return await reader.whole();
}

/** What a client reads first, and the call of the model that it reads. */
async function begin(client: StreamClient, stage: Stage, url: string, stack: DisposableStack) {
  const { server, model, waitMs } = stage;
  const headers = server.api.authorization;
  const called = () => within(`call of the model for ${client.name}`, waitMs, model.nextCall());
  // Where it falls short nobody goes on asking.
  const read = (request: StreamRequest) => stack.adopt(client.read(request), (reading) => reading.cut());
  // With an id of its own a request that is sent again by the client itself is the same run.
  const body = { message: `Speak to ${client.name}.`, usageRequestId: client.name };
  if (client.reads === 'completion') {
    const first = read({
      url: `${url}/get_completion_v2`,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ apiIntegrationId: INTEGRATION, ...body }),
    });
    return { first, call: await called() };
  }
  const started = await server.api.complete({ apiIntegrationId: INTEGRATION, ...body });
  const call = await called();
  started.cut();
  return { first: read({ url: url + eventsPath(call.request.runId), headers, body: null }), call };
}

const eventsPath = (runId: string) => `/v2/integrations/${INTEGRATION}/runs/${runId}/events`;

/**
 * In lock-step: the model says the next token only when the client has shown that it has this one. A client that sees
 * ids is cut in the middle, misses a token, and goes on after the last id it saw.
 */
async function play(client: StreamClient, stage: Stage): Promise<{ asked: number; itself: number }> {
  const { server, proxyUrl, tokens, waitMs } = stage;
  await using wire = await Relay.start(proxyUrl);
  using stack = new DisposableStack();
  const { first, call } = await begin(client, stage, wire.url, stack);
  const { runId } = call.request;
  await within(
    `\`meta\` at ${client.name}`,
    waitMs,
    first.until(({ seen }) => seen[0]?.event === 'meta'),
  );

  const readings: Reading[] = [first];
  const cutAfter = client.resumes === 'never' ? tokens : Math.floor(tokens / 2);
  let expected = '';
  for (let n = 1; n <= tokens; n += 1) {
    // The first one after the cut comes while nobody reads.
    await call.text(token(n));
    expected += token(n);
    if (n === cutAfter + 1) {
      wire.mend();
      if (client.resumes === 'asked') {
        const headers = { ...server.api.authorization, 'last-event-id': String(first.seen.at(-1)?.id ?? 0) };
        readings.push(client.read({ url: wire.url + eventsPath(runId), headers, body: null }));
      }
    }
    const said = () => readings.map((reading) => reading.answer).join('');
    const reading = readings.at(-1) as Reading;
    await within(
      `token ${n} at ${client.name}`,
      waitMs,
      reading.until(() => said() === expected),
    );
    if (n === cutAfter && n < tokens) {
      wire.cut();
      const gone: Promise<unknown> = client.resumes === 'itself' ? wire.cameBack() : first.over();
      await within(`end of the cut ${client.name}`, waitMs, gone);
    }
  }
  await call.end();
  const last = readings.at(-1) as Reading;
  expectEqual(`how ${client.name} ended`, await within(`end at ${client.name}`, waitMs, last.over()), 'whole');

  const frames = await directFrames(server, runId);
  const shown = frames.map(({ id, event, data }) => ({ id: client.resumes === 'never' ? null : id, event, data }));
  expectEqual(
    `events that ${client.name} saw`,
    readings.flatMap(({ seen }) => seen.map(({ id, event, data }) => ({ id, event, data }))),
    shown,
  );
  return { asked: readings.length - 1, itself: client.resumes === 'itself' ? 1 : 0 };
}

export const proof: Proof = {
  name: 'clients',
  minutes: 0.3,
  faults: {
    'held-back': /at curl: expected within \d+ ms, found later/,
  },
  figures: (scale) => ({ clients: 6, tokens: 6 * scale(SHORT_TOKENS, FULL_TOKENS), resumed: 3, resumed_themselves: 2 }),
  async run({ fault, scale }) {
    const short = scale(true, false);
    const tokens = short ? SHORT_TOKENS : FULL_TOKENS;
    using folder = new DataFolder();
    await using model = await ModelController.start();
    await using server = await startServer(null, { dataDir: folder.path, controllerPort: model.port });
    // Planted: nginx behaves as if the server did not say `X-Accel-Buffering: no`.
    await using proxy = await Nginx.start(server.url, fault === null ? '' : 'proxy_ignore_headers X-Accel-Buffering;');
    const waitMs = fault === null ? WAIT_MS : FAULT_WAIT_MS;
    let resumed = 0;
    let resumedThemselves = 0;
    let clients = 0;
    for (const client of STREAM_CLIENTS) {
      const { asked, itself } = await play(client, { server, model, proxyUrl: proxy.url, tokens, waitMs });
      resumed += asked;
      resumedThemselves += itself;
      clients += 1;
      process.stdout.write(`${client.name}: ${tokens} tokens, each before the next\n`);
    }
    expectNumber('clients', clients, STREAM_CLIENTS.length);
    expectNumber('calls of the model', model.calls.length, clients);
    return { clients, tokens: tokens * clients, resumed, resumed_themselves: resumedThemselves };
  },
};
