import { test } from 'node:test';
import { Rig } from '@runwire/test-kit';
import { Relay } from '@runwire/test-kit/relay.ts';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { expectEqual, within } from '@runwire/test-kit/shortfall.ts';
import { type Reading, STREAM_CLIENTS, type StreamClient } from '@runwire/test-kit/stream-clients.ts';
import { Nginx } from './support/nginx.ts';
import { arrives } from './support/readers.ts';

/** Text that must not be cut, doubled or taken for the end of a line. */
const token = (n: number) => `token ${n} é\u{1F600}\u2028\r\n `;

/**
 * In lock-step: the model sends the next token only after the client has shown this one. A client that sees ids is cut
 * in the middle, misses a token, and continues after the last id that it saw.
 */
async function play(client: StreamClient, rig: Rig, proxyUrl: string, tokens: number, waitMs: number): Promise<void> {
  const { name, resumes } = client;
  const { authorization } = rig.api();
  const wait = <T>(what: string, work: Promise<T>) => within(`${what} at ${name}`, waitMs, work);
  const shows = (what: string, reading: Reading, holds: (reading: Reading) => boolean) =>
    arrives(`${what} at ${name}`, reading, holds, waitMs);
  await using wire = await Relay.start(proxyUrl);
  using stack = new DisposableStack();
  const read = (path: string, body: object | null, headers: Readonly<Record<string, string>> = {}) => {
    const text = body === null ? null : JSON.stringify(body);
    const json: Record<string, string> = body === null ? {} : { 'content-type': 'application/json' };
    const request = { url: wire.url + path, headers: { ...authorization, ...json, ...headers }, body: text };
    return stack.adopt(client.read(request), (reading) => reading.cut());
  };
  const eventsPath = (runId: string) => `/v2/integrations/demo/runs/${runId}/events`;
  const body = { apiIntegrationId: 'demo', message: `Speak to ${name}.`, usageRequestId: name };
  const posted = client.reads === 'completion' ? read('/get_completion_v2', body) : await rig.api().complete(body);
  const call = await wait('call of the model', rig.model.nextCall());
  const { runId } = call.request;
  if (client.reads === 'events') posted.cut();
  const first = client.reads === 'completion' ? (posted as Reading) : read(eventsPath(runId), null);
  await shows('`meta`', first, ({ seen }) => seen[0]?.event === 'meta');

  const readings = [first];
  let last = first;
  let expected = '';
  const cutAfter = resumes === 'never' ? tokens : Math.floor(tokens / 2);
  for (let n = 1; n <= tokens; n += 1) {
    // The first token after the cut is sent while no client reads.
    await call.text(token(n));
    expected += token(n);
    if (n === cutAfter + 1) {
      wire.mend();
      if (resumes === 'asked') {
        last = read(eventsPath(runId), null, { 'last-event-id': String(first.seen.at(-1)?.id ?? 0) });
        readings.push(last);
      }
    }
    await shows(`token ${n}`, last, () => readings.map(({ answer }) => answer).join('') === expected);
    if (n === cutAfter && n < tokens) {
      wire.cut();
      await wait<unknown>('the cut', resumes === 'itself' ? wire.cameBack() : first.over);
    }
  }
  await call.end();
  expectEqual(`end of ${name}`, await wait('end', last.over), 'whole');
  const stored = await (await rig.api().events(runId, null)).whole();
  const shown = stored.map(({ id, event, data }) => ({ id: resumes === 'never' ? null : id, event, data }));
  const all = readings.flatMap(({ seen }) => seen);
  expectEqual(`events that ${name} saw`, all, shown);
}

test('existing clients read every token immediately and resume', async () => {
  const fault = plantedFault();
  const tokens = scale(20, 200);
  await using rig = await Rig.start();
  // Planted: nginx ignores the header `X-Accel-Buffering: no`.
  const site = fault === null ? '' : 'proxy_ignore_headers X-Accel-Buffering;';
  await using proxy = await Nginx.start(rig.server().url, site);
  for (const client of STREAM_CLIENTS) {
    await play(client, rig, proxy.url, tokens, fault === null ? 60_000 : 10_000);
    process.stdout.write(`${client.name}: ${tokens} tokens, each before the next\n`);
  }
  const clients = expectEqual('calls of the model', rig.model.calls.length, STREAM_CLIENTS.length);
  const of = (kind: string) => STREAM_CLIENTS.filter(({ resumes }) => resumes === kind).length;
  count({ clients, tokens: tokens * clients, resumed: of('asked'), resumed_themselves: of('itself') });
});
