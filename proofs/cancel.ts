import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ModelCall, ModelController, type ServerProcess, type StreamReader } from '@runwire/test-kit';
import { DataFolder } from './support/data-folder.ts';
import { expectAtLeast, expectEqual, expectNumber, type Proof, Shortfall, within } from './support/proof.ts';
import { startServer } from './support/start-server.ts';

const INTEGRATION = 'cancel';
const PATH = `/v2/integrations/${INTEGRATION}`;
const WAIT_MS = 60_000;
const ROUNDS = 50;
const SHORT_ROUNDS = 5;

interface Held {
  readonly runId: string;
  readonly reader: StreamReader;
  readonly call: ModelCall;
}

async function hold(server: ServerProcess, model: ModelController, chatId: string, id: string): Promise<Held> {
  const body = { apiIntegrationId: INTEGRATION, consumerId: 'ann', chatId, usageRequestId: id };
  const reader = await server.api.complete(body);
  expectNumber('status of the completion', reader.status, 200);
  const call = await within('model call', WAIT_MS, model.nextCall());
  return { runId: String(reader.headers['x-run-id']), reader, call };
}

const cancel = (server: ServerProcess, runId: string) => server.api.post(`${PATH}/runs/${runId}/cancel`);

const tokensUsed = async (server: ServerProcess): Promise<number> =>
  (await server.api.get(`${PATH}/members/ann`)).body.allowance.used;

/** A server that stands still before it stores the end of a run, until the file of the run's chat is there. */
class Rig implements AsyncDisposable {
  readonly folder: DataFolder;
  readonly model: ModelController;
  readonly server: ServerProcess;
  readonly #goOn: string;

  private constructor(folder: DataFolder, model: ModelController, server: ServerProcess, goOn: string) {
    this.folder = folder;
    this.model = model;
    this.server = server;
    this.#goOn = goOn;
  }

  static async start(fault: string | null): Promise<Rig> {
    const folder = new DataFolder();
    const model = await ModelController.start();
    const goOn = join(folder.path, 'go-on');
    const hold = { at: 'settle.before', file: goOn } as const;
    const server = await startServer(fault, { dataDir: folder.path, controllerPort: model.port, hold });
    const allowances = { unit: 'tokens', limit: 1_000_000, period: 'lifetime' };
    const body = { apiIntegrationId: INTEGRATION, name: 'Cancel', agency: 'test', allowances };
    expectNumber('status of the integration', (await server.api.post('/v2/integrations', body)).status, 201);
    expectNumber('status of the member', (await server.api.put(`${PATH}/members/ann`, {})).status, 201);
    return new Rig(folder, model, server, goOn);
  }

  /** Lets one end be stored. */
  letEnd(): void {
    writeFileSync(this.#goOn, '');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await this.model[Symbol.asyncDispose]();
    this.folder[Symbol.dispose]();
  }
}

/**
 * The server stands still before the end is stored, and so before any answer to the cancel, until the provider says
 * that its connection is closed. A server that closes it later never goes on.
 */
async function round(rig: Rig, n: number): Promise<number> {
  const { server, model } = rig;
  const chatId = `c${n}`;
  const { runId, reader, call } = await hold(server, model, chatId, `u${n}`);
  await call.text('Half of ');
  await call.text('an answer');
  await within(
    'partial text',
    WAIT_MS,
    reader.until((r) => r.answer === 'Half of an answer'),
  );
  const before = await tokensUsed(server);

  const answers = [cancel(server, runId), cancel(server, runId)];
  let answered = false;
  const isAnswered = () => {
    answered = true;
  };
  // A server that fell short is ended before it answers.
  for (const answer of answers) answer.then(isAnswered, () => {});
  await within('provider sees its connection closed before the cancel is answered', 5_000, call.closed);
  expectEqual('cancel answered before the provider saw its connection closed', answered, false);
  rig.letEnd();
  const [first, second] = await within('answers to the cancel', WAIT_MS, Promise.all(answers));
  expectEqual(
    'status of the cancel',
    [first?.status, first?.body.status, first?.body.cancelled],
    [200, 'cancelled', true],
  );
  expectEqual('second cancel at once', second?.body, first?.body);
  await within('end of the stream', WAIT_MS, reader.over);

  // Partial text is kept and charged.
  const messages = (await server.api.get(`${PATH}/chats/${chatId}/messages`)).body.items;
  expectEqual(
    'messages of the chat',
    messages.map((one: Record<string, unknown>) => [one.role, one.status, one.content]),
    [
      ['assistant', 'cancelled', 'Half of an answer'],
      ['user', 'completed', 'Hello'],
    ],
  );
  const charged = (await tokensUsed(server)) - before;
  expectAtLeast('tokens charged for partial text', charged, Math.ceil('Half of an answer'.length / 4));
  expectEqual('usage told by the cancel', first?.body.usage.total_tokens, charged);

  // Twice is once; and the id of an old run leaves the newer one of its chat alone.
  const next = await hold(server, model, chatId, `u${n}-next`);
  const late = await cancel(server, runId);
  expectEqual('cancel of the old run again', [late.status, late.body], [200, first?.body]);
  expectEqual('provider of the newer run is closed', next.call.isClosed, false);
  await next.call.text('Whole.');
  await next.call.end();
  rig.letEnd();
  await within('end of the newer run', WAIT_MS, next.reader.over);
  expectEqual('answer of the newer run', next.reader.answer, 'Whole.');
  const records = (await server.api.get(`${PATH}/usage?usageRequestId=u${n}`)).body.items;
  expectEqual(
    'usage records of the cancelled run',
    records.map((one: Record<string, unknown>) => [one.status, one.charged]),
    [['cancelled', { unit: 'tokens', amount: charged }]],
  );
  const ends = reader.frames.filter(({ event }) => event === 'messages' || event === 'end').map(({ event }) => event);
  expectEqual('ends of the cancelled run', ends, ['messages', 'end']);
  const status = (await server.api.get(`${PATH}/runs/${next.runId}`)).body.status;
  expectEqual('newer run', status, 'completed');
  return charged;
}

export const proof: Proof = {
  name: 'cancel',
  minutes: 0.2,
  faults: {
    'deaf-model': /^round 1: provider sees its connection closed before the cancel is answered: expected within/m,
  },
  async run({ fault, scale }) {
    const short = scale(true, false);
    const rounds = short ? SHORT_ROUNDS : ROUNDS;
    await using rig = await Rig.start(fault);
    let charged = 0;
    for (let n = 1; n <= rounds; n += 1) {
      try {
        charged += await round(rig, n);
      } catch (error) {
        // The server goes on, and can be ended.
        rig.letEnd();
        throw error instanceof Shortfall ? new Shortfall(`round ${n}: ${error.message}`) : error;
      }
    }
    return { rounds, cancelled: rounds, closedFirst: rounds, charged };
  },
};
