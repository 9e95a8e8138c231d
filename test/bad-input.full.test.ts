import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text as toText } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Operation, operations } from '@runwire/contract/schemas';
import { type ApiClient, imageAttachment, makePng, Rig, type ServerProcess } from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { expectAtMost, expectEqual, Shortfall } from '@runwire/test-kit/shortfall.ts';
import { type JsonSchema, type Pick, picker, valid, wrong } from '@runwire/test-kit/wrong-bodies.ts';
import { inLanes } from './support/lanes.ts';

const BATCH = 1_000;
const LANES = 8;
/** Over 180 000 requests this shows a leak of 400 bytes for each. */
const MAX_GROWTH_MIB = 64;
const REST_MS = 10_000;
const COMPLETION = '/get_completion_v2';

interface InvalidRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string | Buffer;
  readonly contentType?: string;
  /** A refusal must say this. */
  readonly says: RegExp;
}

const post = (body: string | Buffer, says: RegExp) => ({ method: 'POST', path: COMPLETION, body, says });
const member = (text: string) => `{"apiIntegrationId":"demo","message":"Hi",${text}}`;
const nested = (depth: number) => member(`"user_context":{"a":${'['.repeat(depth - 2)}${']'.repeat(depth - 2)}}`);

/** Traps that are made by hand; `test/validation.test.ts` has one of every field. */
const TRAPS: readonly InvalidRequest[] = [
  post(nested(65), /64/),
  post(member(`"user_context":{"a":${'['.repeat(1_000_000)}`), /./),
  post(member(`"user_context":{"a":[${'1,'.repeat(10_000)}1]}`), /10.?000/),
  post(member('"message":"Ho"'), /"message" twice/),
  post(member('"user_context":{"a":[{"b":1,"b":1}]}'), /"b" twice/),
  post(member('"__proto__":1,"__proto__":2'), /"__proto__" twice/),
  post(member('"user_context":{"\\udc00":1}'), /surrogate/),
  post(JSON.stringify({ apiIntegrationId: 'demo', message: 'x'.repeat(1_000_001) }), /`message`/),
  post(Buffer.from(member('"a":1'), 'utf16le'), /./),
  ...['{', member('"a":01'), member('"a":NaN'), member("'a':1"), `${member('"a":1')}// a`].map((body) =>
    post(body, /JSON/),
  ),
  { ...post('message=Hi', /application\/json/), contentType: 'application/x-www-form-urlencoded' },
];
const ACCEPTED: readonly string[] = [
  nested(64),
  ...[
    {},
    { message: '\0 \u2028 é \u{1F600}' },
    { chatId: '\u{1F600}'.repeat(256), usageRequestId: 'u'.repeat(256) },
    { attachments: Array.from({ length: 5 }, (_, n) => imageAttachment(makePng(100, n))) },
    { user_context: { deep: [{ list: [1, 'a', null, { b: {} }] }], '': 0 } },
    JSON.parse('{"__proto__": {"message": 5}, "constructor": 1}'),
  ].map((fields) => JSON.stringify({ apiIntegrationId: 'demo', message: 'Hi', ...fields })),
];

const withBody = Object.values(operations as Record<string, Operation>).filter(({ body }) => body !== undefined);

/** One mistake in a good body of some operation, or a good completion with broken bytes. */
function generate(pick: Pick): InvalidRequest {
  const kind = pick(['completion', 'completion', 'completion', 'operation', 'bytes']);
  if (kind === 'bytes') return brokenBytes(pick);
  const operation = kind === 'completion' ? operations.getCompletionV2 : pick(withBody);
  const path = operation.path.replace(':apiIntegrationId', 'demo').replace(/:[A-Za-z]+/g, 'x');
  const { value, field } = wrong(operation.body as JsonSchema, '', pick);
  const says = field === '' ? /The body/ : new RegExp(`\`${RegExp.escape(field)}\``);
  return { method: operation.method, path, body: JSON.stringify(value), says };
}

function brokenBytes(pick: Pick): InvalidRequest {
  const good = Buffer.from(JSON.stringify(valid(operations.getCompletionV2.body as JsonSchema, pick)));
  const at = 1 + pick([...Array(good.length - 2).keys()]);
  const kind = pick(['cut', 'not UTF-8', 'twice']);
  if (kind === 'cut') return post(good.subarray(0, at), /not valid (JSON|UTF-8)/);
  if (kind === 'twice') return post(`${good.toString().slice(0, -1)},"message":"again"}`, /"message" twice/);
  const bytes = Buffer.from(pick(['ff', 'c0af', 'eda080', 'f5808080']), 'hex');
  return post(Buffer.concat([good.subarray(0, at), bytes, good.subarray(at)]), /UTF-8/);
}

/** Sends over connections that stay open. */
class Sender implements Disposable {
  readonly #api: ApiClient;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: LANES });
  readonly sockets = new Set<unknown>();

  constructor(api: ApiClient) {
    this.#api = api;
  }

  async send({ method, path, body, contentType = 'application/json' }: InvalidRequest) {
    const length = { 'content-type': contentType, 'content-length': Buffer.byteLength(body) };
    const headers = { ...this.#api.authorization, ...length };
    const sent = request(this.#api.url + path, { method, agent: this.#agent, headers });
    sent.on('socket', (socket) => this.sockets.add(socket)).end(body);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return { status: answer.statusCode, admitted: answer.headers['x-agent-run-admitted'], text: await toText(answer) };
  }

  /** Each is refused with 400 and with the mistake's name. */
  async refuse(all: readonly InvalidRequest[]): Promise<number> {
    const refuse = async (bad: InvalidRequest) => {
      const { status, text, admitted } = await this.send(bad);
      const what = `${bad.method} ${bad.path} ${bad.body.toString().slice(0, 300)}`;
      if (status !== 400)
        throw new Shortfall(`status of ${what}: expected 400, found ${status} ${text.slice(0, 300)}.`);
      const { error } = JSON.parse(text) as { error: string };
      if (!bad.says.test(error)) throw new Shortfall(`sentence for ${what}: expected ${bad.says}, found "${error}".`);
      if (bad.path === COMPLETION) expectEqual(`X-Agent-Run-Admitted for ${what}`, admitted, 'false');
    };
    const labelled = all.map((bad) => ['refusals', bad] as const);
    await inLanes(LANES, labelled, refuse);
    return all.length;
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}

const toMib = async (server: ServerProcess) => Math.round((await server.probe()).rssBytes / 1024 / 1024);

async function expectNoRuns(rig: Rig): Promise<void> {
  expectEqual('calls of the model', rig.model.calls.length, 0);
  for (const list of ['runs', 'usage', 'chats']) {
    const { body } = await rig.api().get(`/v2/integrations/demo/${list}`);
    expectEqual(`${list} after refusals`, body.items.length, 0);
  }
}

test('bad input is refused by name, starts no run and leaves nothing', async () => {
  const fault = plantedFault();
  await using rig = await Rig.start({ fault });
  rig.model.answerAll('Hi');
  const server = rig.server();
  using sender = new Sender(server.api);
  const refused = await sender.refuse(TRAPS);
  await expectNoRuns(rig);
  const seed = Date.now() % 2 ** 31;
  process.stdout.write(`seed ${seed}\n`);
  const pick = picker(seed);
  const requests = scale(2_000, 200_000);
  const warmUp = requests / 10;
  let [sent, baseMib] = [0, 0];
  while (sent < requests) {
    const size = Math.min(BATCH, requests - sent, warmUp);
    sent += await sender.refuse(Array.from({ length: size }, () => generate(pick)));
    if (baseMib === 0 && sent >= warmUp) baseMib = await toMib(server);
  }
  await expectNoRuns(rig);
  const bound = baseMib + MAX_GROWTH_MIB;
  let afterMib = await toMib(server);
  // The process gives memory back slowly: the least within a while counts.
  for (const end = performance.now() + REST_MS; afterMib > bound && performance.now() < end; await sleep(500)) {
    afterMib = Math.min(afterMib, await toMib(server));
  }
  expectAtMost('MiB after the requests', afterMib, bound);
  for (const body of ACCEPTED) {
    const { status, text, admitted } = await sender.send(post(body, /./));
    const found = [status, admitted, text.includes('event: end')];
    expectEqual(`answer to ${body.slice(0, 300)}`, found, [200, 'true', true]);
  }
  const accepted = expectEqual('runs of accepted bodies', rig.model.calls.length, ACCEPTED.length);
  const memory = { base_mib: baseMib, after_mib: afterMib };
  count({ refused, generated: sent, accepted, connections: sender.sockets.size, ...memory });
});
