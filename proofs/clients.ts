import { type Frame, ModelController, type ServerProcess } from '@runwire/server/testing';
import { DataFolder } from './support/data-folder.ts';
import { Nginx } from './support/nginx.ts';
import { expectEqual, expectNumber, type Proof, within } from './support/proof.ts';
import { startServer } from './support/start-server.ts';
import { type Reading, STREAM_CLIENTS, type StreamClient } from './support/stream-clients.ts';

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

/**
 * In lock-step: the model says the next token only when the client has shown that it has this one. A client that sees
 * ids is cut in the middle, misses a token, and goes on at the resume address.
 */
async function play(client: StreamClient, stage: Stage): Promise<number> {
  const { server, model, proxyUrl, tokens, waitMs } = stage;
  const headers = server.api.authorization;
  const body = JSON.stringify({ apiIntegrationId: INTEGRATION, message: `Speak to ${client.name}.` });
  const first = client.read({
    url: `${proxyUrl}/get_completion_v2`,
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  });
  const call = await within(`call of the model for ${client.name}`, waitMs, model.nextCall());
  const { runId } = call.request;
  await within(
    `\`meta\` at ${client.name}`,
    waitMs,
    first.until(({ seen }) => seen[0]?.event === 'meta'),
  );

  const readings: Reading[] = [first];
  const cutAfter = client.resumes ? Math.floor(tokens / 2) : tokens;
  let expected = '';
  for (let n = 1; n <= tokens; n += 1) {
    await call.text(token(n));
    expected += token(n);
    if (n === cutAfter + 1) {
      // This token comes while nobody reads.
      const lastId = first.seen.at(-1)?.id ?? 0;
      const url = `${proxyUrl}/v2/integrations/${INTEGRATION}/runs/${runId}/events`;
      readings.push(client.read({ url, headers: { ...headers, 'last-event-id': String(lastId) }, body: null }));
    }
    const said = () => readings.map((reading) => reading.answer).join('');
    const reading = readings.at(-1) as Reading;
    await within(
      `token ${n} at ${client.name}`,
      waitMs,
      reading.until(() => said() === expected),
    );
    if (n === cutAfter && n < tokens) {
      first.cut();
      await within(`end of the cut ${client.name}`, waitMs, first.over());
    }
  }
  await call.end();
  const last = readings.at(-1) as Reading;
  expectEqual(`how ${client.name} ended`, await within(`end at ${client.name}`, waitMs, last.over()), 'whole');

  const frames = await directFrames(server, runId);
  const shown = frames.map(({ id, event, data }) => ({ id: client.resumes ? id : null, event, data }));
  expectEqual(
    `events that ${client.name} saw`,
    readings.flatMap(({ seen }) => seen.map(({ id, event, data }) => ({ id, event, data }))),
    shown,
  );
  return readings.length - 1;
}

export const proof: Proof = {
  name: 'clients',
  faults: ['held-back'],
  async run({ fault, short }) {
    const tokens = short ? SHORT_TOKENS : FULL_TOKENS;
    using folder = new DataFolder();
    await using model = await ModelController.start();
    await using server = await startServer(null, { dataDir: folder.path, controllerPort: model.port });
    // Planted: nginx behaves as if the server did not say `X-Accel-Buffering: no`.
    await using proxy = await Nginx.start(server.url, fault === null ? '' : 'proxy_ignore_headers X-Accel-Buffering;');
    const waitMs = fault === null ? WAIT_MS : FAULT_WAIT_MS;
    let resumed = 0;
    let clients = 0;
    for (const client of STREAM_CLIENTS) {
      resumed += await play(client, { server, model, proxyUrl: proxy.url, tokens, waitMs });
      clients += 1;
      process.stdout.write(`${client.name}: ${tokens} tokens, each before the next\n`);
    }
    expectNumber('clients', clients, STREAM_CLIENTS.length);
    return { clients, tokens: tokens * clients, resumed };
  },
};
