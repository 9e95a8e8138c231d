import type { Answer, ApiClient, ModelCall, ModelController, StreamReader } from '@runwire/test-kit';
import { type SignedForm, sendForm, signing } from '../../test/support/uploads.ts';

/*
 * What the proof `pairs` runs concurrently. A subject is what two operations are about, in one state. To add an operation,
 * add a line to `operations` of each subject that it can meet: the proof runs it against every operation there, itself
 * included. An operation resolves to its answer; `state` shows what it changed.
 */

export interface PairSubject {
  readonly operations: Readonly<Record<string, () => Promise<unknown>>>;
  state(): Promise<unknown>;
}

/** Makes a fresh subject; `name` is unique in the installation, and the id of its integration. */
export type MakeSubject = (stage: PairStage, name: string) => Promise<PairSubject>;

/** The forms of one integration may promise so much: one file of `FILE_BYTES`, not two. */
export const QUOTA_BYTES = 100;
const FILE_BYTES = 60;

type Body = Readonly<Record<string, unknown>>;

/** A server, and the model whose calls wait until a round is over. */
export class PairStage {
  readonly api: ApiClient;
  readonly #calls = new Map<string, PromiseWithResolvers<ModelCall>>();

  constructor(api: ApiClient, model: ModelController) {
    this.api = api;
    model.onCall = (call) => this.#callOf(call.request.runId).resolve(call);
  }

  #callOf(runId: string): PromiseWithResolvers<ModelCall> {
    const known = this.#calls.get(runId) ?? Promise.withResolvers<ModelCall>();
    this.#calls.set(runId, known);
    return known;
  }

  /** The call of the model that this run waits in. */
  call(runId: string): Promise<ModelCall> {
    return this.#callOf(runId).promise;
  }

  /** Lets a run end that a round has left; it may have been cancelled before its model was called. */
  release(runId: string): void {
    this.#callOf(runId)
      .promise.then((call) => call.end())
      .finally(() => this.#calls.delete(runId));
  }
}

/** The requests of one subject, and the runs that they started. */
class Requests {
  readonly stage: PairStage;
  readonly id: string;
  readonly runs: string[] = [];

  constructor(stage: PairStage, id: string) {
    this.stage = stage;
    this.id = id;
  }

  get path(): string {
    return `/v2/integrations/${this.id}`;
  }

  async made(answer: Promise<Answer>): Promise<Body> {
    const { status, body } = await answer;
    if (status >= 300) throw new Error(`A subject could not be made: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  integration(fields: Body = {}): Promise<Body> {
    return this.made(this.stage.api.post('/v2/integrations', { apiIntegrationId: this.id, ...fields }));
  }

  async post(fields: Body): Promise<StreamReader> {
    const reader = await this.stage.api.complete({ apiIntegrationId: this.id, ...fields });
    const runId = reader.headers['x-run-id'];
    if (reader.status === 200 && reader.headers['x-run-replayed'] === undefined) this.runs.push(String(runId));
    return reader;
  }

  /** A completion up to the head of its answer; its run waits for its model. */
  async complete(fields: Body): Promise<unknown> {
    const reader = await this.post(fields);
    const { status, headers } = reader;
    if (status !== 200) await reader.over;
    else reader.cut();
    const body = status === 200 ? null : JSON.parse(reader.text);
    return {
      status,
      body,
      run: headers['x-run-id'],
      chat: headers['x-chat-id'],
      admitted: headers['x-agent-run-admitted'],
    };
  }

  /**
   * The request of an ended run again, read to its end. If the chat is deleted under the stream, the server cuts it; then
   * the request is sent once more, as a client does.
   */
  async replay(fields: Body): Promise<unknown> {
    for (;;) {
      const reader = await this.post(fields);
      const isWhole = await reader.over;
      if (reader.status !== 200) return { status: reader.status, body: JSON.parse(reader.text) };
      if (isWhole) return { status: 200, last: reader.frames.at(-1)?.event, answer: reader.answer };
    }
  }

  /** A run whose model waits. */
  async held(
    fields: Body,
  ): Promise<{ readonly reader: StreamReader; readonly call: ModelCall; readonly runId: string }> {
    const reader = await this.post(fields);
    const runId = String(reader.headers['x-run-id']);
    if (reader.status !== 200) throw new Error(`A run was not admitted: ${reader.status}`);
    return { reader, call: await this.stage.call(runId), runId };
  }

  async ended(fields: Body): Promise<void> {
    const { reader, call } = await this.held(fields);
    await call.text('Hi');
    await call.end();
    await reader.over;
  }

  send = async (method: string, below: string, body?: unknown): Promise<unknown> => {
    const answer = await this.stage.api.call(method, `${this.path}${below}`, body);
    return { status: answer.status, body: answer.body };
  };

  sign(fields: Body): Promise<Answer> {
    return this.stage.api.post('/create_agency_upload', signing(FILE_BYTES, { apiIntegrationId: this.id, ...fields }));
  }

  async signed(fields: Body = {}): Promise<unknown> {
    const { status, body } = await this.sign(fields);
    return { status, body };
  }

  /** The lists below the integration. Order by time is left out: it is not what a pair is about. */
  state =
    (...below: readonly string[]) =>
    async (): Promise<unknown> => {
      const answers = await Promise.all(below.map((path) => this.send('GET', path)));
      for (const runId of this.runs) this.stage.release(runId);
      return answers;
    };
}

/** A run that waits in its chat, and what can happen to it. */
async function busyChat(requests: Requests, fields: Body) {
  const { reader, call, runId } = await requests.held(fields);
  return {
    cancel: () => requests.send('POST', `/runs/${runId}/cancel`),
    /** The model ends its answer: the answer is how the stream ended. */
    finish: async () => {
      await Promise.race([call.end(), call.closed]);
      await reader.over;
      const messages = reader.frames.find(({ event }) => event === 'messages');
      return { status: messages === undefined ? null : JSON.parse(messages.data).status };
    },
  };
}

const RUNS = { allowances: { unit: 'runs', limit: 1, period: 'lifetime' } };
const ANN = '/members/ann';

/** A member with an allowance of one run. */
const member =
  (registered: boolean): MakeSubject =>
  async (stage, name) => {
    const requests = new Requests(stage, name);
    await requests.integration(RUNS);
    if (registered) await requests.made(stage.api.put(requests.path + ANN, {}));
    const { send } = requests;
    return {
      operations: {
        'put name': () => send('PUT', ANN, { name: 'Ann' }),
        'put inactive': () => send('PUT', ANN, { active: false }),
        'put limit': () => send('PUT', ANN, { allowance: { limit: 5 } }),
        delete: () => send('DELETE', ANN),
        complete: () => requests.complete({ consumerId: 'ann', chatId: 'c1', usageRequestId: 'u1' }),
        'complete elsewhere': () => requests.complete({ consumerId: 'ann', chatId: 'c2', usageRequestId: 'u2' }),
        'create chat': () => send('POST', '/chats', { chatId: 'c1', consumerId: 'ann' }),
      },
      state: requests.state(ANN, '/chats', '/runs'),
    };
  };

const newChat: MakeSubject = async (stage, name) => {
  const requests = new Requests(stage, name);
  await requests.integration();
  const { send } = requests;
  return {
    operations: {
      create: () => send('POST', '/chats', { chatId: 'c', aliasChatId: 'a' }),
      'create another': () => send('POST', '/chats', { chatId: 'd', aliasChatId: 'a' }),
      complete: () => requests.complete({ chatId: 'c', usageRequestId: 'u1' }),
      'complete by alias': () => requests.complete({ aliasChatId: 'a', usageRequestId: 'u2' }),
      'complete by both': () => requests.complete({ chatId: 'c', aliasChatId: 'a', usageRequestId: 'u3' }),
      'same request': () => requests.complete({ chatId: 'c', usageRequestId: 'u1' }),
      'another body': () => requests.complete({ chatId: 'c', usageRequestId: 'u1', message: 'Another' }),
      delete: () => send('DELETE', '/chats/c'),
    },
    state: requests.state('/chats', '/runs', '/usage'),
  };
};

const idleChat: MakeSubject = async (stage, name) => {
  const requests = new Requests(stage, name);
  await requests.integration();
  const first = { chatId: 'c', aliasChatId: 'a', usageRequestId: 'u0' };
  await requests.ended(first);
  const { send } = requests;
  return {
    operations: {
      complete: () => requests.complete({ chatId: 'c', usageRequestId: 'u1' }),
      'complete by alias': () => requests.complete({ aliasChatId: 'a', usageRequestId: 'u2' }),
      create: () => send('POST', '/chats', { chatId: 'c' }),
      replay: () => requests.replay(first),
      delete: () => send('DELETE', '/chats/c'),
    },
    state: requests.state('/chats', '/runs', '/chats/c/messages'),
  };
};

const runningChat: MakeSubject = async (stage, name) => {
  const requests = new Requests(stage, name);
  await requests.integration();
  const first = { chatId: 'c', usageRequestId: 'u0' };
  const run = await busyChat(requests, first);
  return {
    operations: {
      ...run,
      complete: () => requests.complete({ chatId: 'c', usageRequestId: 'u1' }),
      replay: () => requests.complete(first),
      delete: () => requests.send('DELETE', '/chats/c'),
    },
    state: requests.state('/chats', '/runs', '/usage'),
  };
};

const newIntegration: MakeSubject = async (stage, name) => {
  const requests = new Requests(stage, name);
  const { send } = requests;
  const create = async (apiIntegrationId: string, fields: Body) => {
    const { status, body } = await stage.api.post('/v2/integrations', { apiIntegrationId, ...fields });
    return { status, body };
  };
  return {
    operations: {
      create: () => create(name, { name: 'One' }),
      'create with an allowance': () => create(name, RUNS),
      'create in upper case': () => create(name.toUpperCase(), {}),
      patch: () => send('PATCH', '', { name: 'Two' }),
      delete: () => send('DELETE', ''),
      complete: () => requests.complete({ usageRequestId: 'u' }),
    },
    state: requests.state('', '/runs'),
  };
};

const integration: MakeSubject = async (stage, name) => {
  const requests = new Requests(stage, name);
  await requests.integration();
  const { send } = requests;
  return {
    operations: {
      'patch name': () => send('PATCH', '', { name: 'Two' }),
      'patch text': () => send('PATCH', '', { textOnly: true }),
      'patch allowances': () => send('PATCH', '', RUNS),
      delete: () => send('DELETE', ''),
      complete: () => requests.complete({ chatId: 'c', usageRequestId: 'u' }),
      'put member': () => send('PUT', ANN, { name: 'Ann' }),
      'create chat': () => send('POST', '/chats', { chatId: 'd' }),
      sign: () => requests.signed(),
    },
    state: requests.state('', '/members', '/chats', '/runs'),
  };
};

const runningIntegration: MakeSubject = async (stage, name) => {
  const requests = new Requests(stage, name);
  await requests.integration(RUNS);
  await requests.made(stage.api.put(requests.path + ANN, {}));
  const run = await busyChat(requests, { chatId: 'c', consumerId: 'ann', usageRequestId: 'u' });
  return {
    operations: {
      cancel: run.cancel,
      finish: run.finish,
      delete: () => requests.send('DELETE', ''),
      'raise the limit': () => requests.send('PATCH', '', { allowances: { ...RUNS.allowances, limit: 9 } }),
      'delete member': () => requests.send('DELETE', ANN),
      complete: () => requests.complete({ chatId: 'd', consumerId: 'ann', usageRequestId: 'u2' }),
    },
    state: requests.state('', '/members', '/runs', '/usage'),
  };
};

/** An owner with two keys, each of which revokes itself: one of them must stay. */
const owner: MakeSubject = async (stage, name) => {
  const requests = new Requests(stage, name);
  const email = `${name}@example.com`;
  const made = await requests.made(stage.api.post('/v2/owners', { email }));
  const first = stage.api.as(String(made.apiKey));
  const key = await requests.made(first.post('/v2/api_keys', { name: 'second' }));
  const second = stage.api.as(String(key.apiKey));
  const keyOf = async (api: ApiClient) => (await api.get('/v2/me')).body.key.keyId;
  const [firstId, secondId] = [await keyOf(first), await keyOf(second)];
  const told = async (answer: Promise<Answer>) => {
    const { status, body } = await answer;
    return { status, body };
  };
  return {
    operations: {
      'revoke first': () => told(first.delete(`/v2/api_keys/${firstId}`)),
      'revoke second': () => told(second.delete(`/v2/api_keys/${secondId}`)),
      'revoke second by first': () => told(first.delete(`/v2/api_keys/${secondId}`)),
      'create owner': () => told(stage.api.post('/v2/owners', { email: `new-${email}` })),
      'create owner in upper case': () => told(stage.api.post('/v2/owners', { email: `NEW-${email.toUpperCase()}` })),
    },
    state: async () => {
      const usable = await Promise.all([first, second].map(async (api) => (await api.get('/v2/me')).status));
      return { usable };
    },
  };
};

const FILE = '/app/mnt/u/a.txt';
const bytes = Buffer.alloc(FILE_BYTES, 'x');

/** A path that a form was signed for, with or without its file. */
const file =
  (stored: boolean): MakeSubject =>
  async (stage, name) => {
    const requests = new Requests(stage, name);
    await requests.integration();
    const form = (await requests.made(requests.sign({}))) as unknown as SignedForm;
    if (stored) await sendForm(form, bytes);
    const path = encodeURIComponent(FILE);
    return {
      operations: {
        sign: () => requests.signed(),
        'sign below it': () => requests.signed({ folder: FILE }),
        send: async () => ({ status: await sendForm(form, bytes) }),
        delete: () => requests.send('DELETE', `/files?path=${path}`),
        'delete folder': () =>
          requests.send('DELETE', `/files?path=${encodeURIComponent('/app/mnt/u')}&recursive=true`),
        complete: () => requests.complete({ usageRequestId: 'u', sandboxFiles: [{ name: 'a.txt', path: FILE }] }),
      },
      state: requests.state('/files', `/files?folder=${encodeURIComponent('/app/mnt/u')}`, '/runs'),
    };
  };

/** A quota with room for one of two files. */
const quota: MakeSubject = async (stage, name) => {
  const requests = new Requests(stage, name);
  await requests.integration();
  return {
    operations: {
      'sign a': () => requests.signed({ filename: 'a.txt' }),
      'sign b': () => requests.signed({ filename: 'b.txt' }),
      'sign a as folder': () => requests.signed({ folder: FILE, filename: 'c.txt' }),
    },
    state: requests.state('/files'),
  };
};

/** Every subject by its name: what it is, and its state. */
export const PAIR_SUBJECTS: Readonly<Record<string, MakeSubject>> = {
  'new member': member(false),
  member: member(true),
  'new chat': newChat,
  'idle chat': idleChat,
  'running chat': runningChat,
  'new integration': newIntegration,
  integration,
  'running integration': runningIntegration,
  owner,
  'new file': file(false),
  file: file(true),
  quota,
};
