import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Operation, operations } from '@runwire/contract/schemas';
import { ModelController, type ServerProcess } from '@runwire/test-kit';
import fc from 'fast-check';
import { DataFolder } from './support/data-folder.ts';
import { ACCEPTED, DEEPEST_ACCEPTED, REFUSED, TRAPS } from './support/input-table.ts';
import { expectAtMost, expectEqual, expectNumber, type Proof, Shortfall } from './support/proof.ts';
import { type JsonSchema, valid, wrong } from './support/schema-arbitraries.ts';
import { startServer } from './support/start-server.ts';

const FULL_REQUESTS = 200_000;
const SHORT_REQUESTS = 2_000;
/** A tenth of the requests warms the server up before its memory is looked at. */
const WARM_UP = 10;
const BATCH = 1_000;
const LANES = 8;
/** Over 180 000 requests, a leak of 400 bytes for each would be seen. */
const MAX_GROWTH_MIB = 64;
const REST_MS = 10_000;
const COMPLETION_PATH = '/get_completion_v2';

interface Bad {
  readonly method: string;
  readonly path: string;
  readonly body: string | Buffer;
  readonly contentType: string;
  /** What the sentence of the refusal must hold. */
  readonly says: RegExp;
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const names = (field: string) => (field === '' ? /The body/ : new RegExp(`\`${escaped(field)}\``));
const post = (body: string | Buffer, says: RegExp, contentType = 'application/json'): Bad => ({
  method: 'POST',
  path: COMPLETION_PATH,
  body,
  contentType,
  says,
});

/** One wrong thing in an otherwise good body, of every operation that takes one. */
function wrongBodies(operation: Operation): fc.Arbitrary<Bad> {
  const path = operation.path.replace(':apiIntegrationId', 'demo').replace(/:[A-Za-z]+/g, 'x');
  return wrong(operation.body as JsonSchema, '').map(({ value, field }) => ({
    method: operation.method,
    path,
    body: JSON.stringify(value),
    contentType: 'application/json',
    says: names(field),
  }));
}

/** A good body whose bytes are broken at a place that nobody chose. */
function brokenBytes(): fc.Arbitrary<Bad> {
  const good = valid(operations.getCompletionV2.body as JsonSchema).map((value) => Buffer.from(JSON.stringify(value)));
  const cut = fc.tuple(good, fc.double({ min: 0, max: 0.999, noNaN: true })).map(([bytes, share]) => {
    const length = Math.max(1, Math.floor(share * (bytes.length - 1)));
    return post(bytes.subarray(0, length), /not valid (JSON|UTF-8)/);
  });
  const notUtf8 = fc
    .tuple(good, fc.nat(), fc.constantFrom('ff', 'c0af', 'eda080', 'f5808080'))
    .map(([bytes, place, hex]) => {
      const at = place % bytes.length;
      return post(Buffer.concat([bytes.subarray(0, at), Buffer.from(hex, 'hex'), bytes.subarray(at)]), /UTF-8/);
    });
  const twice = good.map((bytes) => post(`${bytes.toString().slice(0, -1)},"message":"again"}`, /"message" twice/));
  return fc.oneof(cut, notUtf8, twice);
}

function generated(): fc.Arbitrary<Bad> {
  const withBody = Object.values(operations as Record<string, Operation>).filter(
    (operation) => operation.body !== undefined,
  );
  const others = withBody.filter((operation) => operation.path !== COMPLETION_PATH).map(wrongBodies);
  return fc.oneof(
    { weight: 6, arbitrary: wrongBodies(operations.getCompletionV2) },
    { weight: 2, arbitrary: fc.oneof(...others) },
    { weight: 2, arbitrary: brokenBytes() },
  );
}

/** Sends over connections that stay open. */
class Sender implements Disposable {
  readonly #server: ServerProcess;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: LANES });
  readonly #sockets = new Set<unknown>();

  constructor(server: ServerProcess) {
    this.#server = server;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  send(
    bad: Pick<Bad, 'method' | 'path' | 'body' | 'contentType'>,
  ): Promise<{ status: number; text: string; admitted: unknown }> {
    return new Promise((resolve, reject) => {
      const sent = request(`${this.#server.url}${bad.path}`, {
        method: bad.method,
        agent: this.#agent,
        headers: {
          ...this.#server.api.authorization,
          'content-type': bad.contentType,
          'content-length': Buffer.byteLength(bad.body),
        },
      });
      sent.on('socket', (socket) => this.#sockets.add(socket));
      sent.on('error', reject);
      sent.on('response', (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('error', reject);
        const admitted = response.headers['x-agent-run-admitted'];
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text, admitted }));
      });
      sent.end(bad.body);
    });
  }

  /** Refused with 400, with the header where there is one, and with the name of what was wrong. */
  async refuse(bad: Bad): Promise<void> {
    const { status, text, admitted } = await this.send(bad);
    const shown = `${bad.method} ${bad.path} ${bad.body.toString().slice(0, 300)}`;
    if (status !== 400) throw new Shortfall(`status of ${shown}: expected 400, found ${status} ${text.slice(0, 300)}.`);
    const { error } = JSON.parse(text) as { error: string };
    if (!bad.says.test(error)) throw new Shortfall(`sentence for ${shown}: expected ${bad.says}, found "${error}".`);
    if (bad.path === COMPLETION_PATH) expectEqual(`X-Agent-Run-Admitted for ${shown}`, admitted, 'false');
  }

  async refuseAll(all: readonly Bad[]): Promise<number> {
    const left = all.values();
    const lane = async () => {
      for (const bad of left) await this.refuse(bad);
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    return all.length;
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}

async function rssMib(server: ServerProcess): Promise<number> {
  return Math.round((await server.probe()).rssBytes / 1024 / 1024);
}

/** What the process holds is given back by and by: the least it comes to within a while. */
async function restingMib(server: ServerProcess, bound: number): Promise<number> {
  let least = await rssMib(server);
  for (const end = performance.now() + REST_MS; least > bound && performance.now() < end; await sleep(500)) {
    least = Math.min(least, await rssMib(server));
  }
  return least;
}

async function expectNoRuns(server: ServerProcess, model: ModelController): Promise<void> {
  expectNumber('calls of the model', model.calls.length, 0);
  for (const list of ['runs', 'usage', 'chats']) {
    const { body } = await server.api.get(`/v2/integrations/demo/${list}`);
    expectNumber(`${list} after refusals`, body.items.length, 0);
  }
}

async function accept(sender: Sender, body: string): Promise<void> {
  const { status, text, admitted } = await sender.send(post(body, /./));
  const shown = body.slice(0, 300);
  expectNumber(`status of ${shown}`, status, 200);
  expectEqual(`X-Agent-Run-Admitted for ${shown}`, admitted, 'true');
  if (!text.includes('event: end')) throw new Shortfall(`stream of ${shown}: expected an end, found none.`);
}

export const proof: Proof = {
  name: 'bad-input',
  minutes: 1.7,
  faults: {
    'any-depth': /^status of POST \/get_completion_v2 .*: expected 400, found 200/m,
  },
  async run({ fault, scale }) {
    const short = scale(true, false);
    using folder = new DataFolder();
    await using model = await ModelController.start();
    model.answerAll('Hi');
    await using server = await startServer(fault, { dataDir: folder.path, controllerPort: model.port });
    using sender = new Sender(server);

    let refused = await sender.refuseAll(REFUSED.map(({ body, field }) => post(JSON.stringify(body), names(field))));
    refused += await sender.refuseAll(TRAPS.map(({ body, says, contentType }) => post(body, says, contentType)));
    await expectNoRuns(server, model);

    const requests = short ? SHORT_REQUESTS : FULL_REQUESTS;
    const arbitrary = generated();
    const seed = Date.now() % 2 ** 31;
    process.stdout.write(`seed ${seed}\n`);
    let sent = 0;
    let baseMib = 0;
    for (let batch = 0; sent < requests; batch += 1) {
      const size = Math.min(BATCH, requests - sent, Math.max(1, requests / WARM_UP));
      sent += await sender.refuseAll(fc.sample(arbitrary, { numRuns: size, seed: seed + batch }));
      if (baseMib === 0 && sent >= requests / WARM_UP) baseMib = await rssMib(server);
    }
    await expectNoRuns(server, model);
    const bound = baseMib + MAX_GROWTH_MIB;
    const afterMib = expectAtMost('MiB after the requests', await restingMib(server, bound), bound);

    const accepted = [
      ...ACCEPTED.map((fields) => JSON.stringify({ apiIntegrationId: 'demo', message: 'Hi', ...fields })),
      DEEPEST_ACCEPTED,
    ];
    for (const body of accepted) await accept(sender, body);
    expectNumber('runs after what is to be taken', model.calls.length, accepted.length);
    return {
      refused,
      generated: sent,
      accepted: accepted.length,
      connections: sender.connections,
      base_mib: baseMib,
      after_mib: afterMib,
    };
  },
};
