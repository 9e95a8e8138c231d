import type { Answer, ApiClient, ModelCall, Rig, StreamReader } from '@runwire/test-kit';
import { until } from '@runwire/test-kit/shortfall.ts';
import { type SignedForm, sendForm, signing } from './uploads.ts';

/*
 * What the proof `pairs` runs concurrently. A subject is what two operations are about, in one state. To add an operation, add
 * a line to each subject that it can meet: the proof runs it against every operation there, itself included.
 */

type Body = Readonly<Record<string, unknown>>;
type Request = readonly [method: string, below: string, body?: Body];
/** A request below the integration, or what else a caller does; the result is compared. */
type Operation = Request | ((subject: Subject) => Promise<unknown>);

interface SubjectPlan {
  readonly prepare: (subject: Subject) => Promise<unknown>;
  readonly operations: Readonly<Record<string, Operation>>;
  /** Lists below the integration that show what the operations changed. */
  readonly state: readonly string[] | ((subject: Subject) => Promise<unknown>);
}

/** One integration's forms may promise so much: one file of `FILE_BYTES`, not two. */
export const QUOTA_BYTES = 100;
const FILE_BYTES = 60;

const settledAnswer = async (answer: Promise<Answer>) => {
  const { status, body } = await answer;
  return { status, body };
};

/** One fresh subject. Its name is unique in the installation, and its integration's id. */
export class Subject {
  readonly name: string;
  readonly #rig: Rig;
  /** Its requests' runs. The model answers none of them until the round is over. */
  readonly runs: string[] = [];
  /** The run that waits in its chat. */
  #held: StreamReader | null = null;
  form: SignedForm | null = null;
  /** The owner's two keys. */
  keys: readonly { readonly api: ApiClient; readonly id: string }[] = [];

  constructor(rig: Rig, name: string) {
    this.#rig = rig;
    this.name = name;
  }

  get api(): ApiClient {
    return this.#rig.api();
  }

  async do(operation: Operation): Promise<unknown> {
    if (typeof operation === 'function') return operation(this);
    const [method, below, body] = operation;
    return settledAnswer(this.api.call(method, `/v2/integrations/${this.name}${below}`, body));
  }

  state({ state }: SubjectPlan): Promise<unknown> {
    if (typeof state === 'function') return state(this);
    return Promise.all(state.map((below) => this.do(['GET', below])));
  }

  async made(answer: Promise<Answer>): Promise<Body> {
    const { status, body } = await answer;
    if (status >= 300) throw new Error(`A subject could not be made: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  integration(fields: Body = {}): Promise<Body> {
    return this.made(this.api.post('/v2/integrations', { apiIntegrationId: this.name, ...fields }));
  }

  member(): Promise<Body> {
    return this.made(this.api.put(`/v2/integrations/${this.name}${ANN}`, {}));
  }

  async #post(fields: Body): Promise<StreamReader> {
    const reader = await this.api.complete({ apiIntegrationId: this.name, ...fields });
    const { 'x-run-id': runId, 'x-run-replayed': replayed } = reader.headers;
    if (reader.status === 200 && replayed === undefined) this.runs.push(String(runId));
    return reader;
  }

  /** A completion up to its answer's head; its run waits for its model. */
  async complete(fields: Body): Promise<unknown> {
    const reader = await this.#post(fields);
    const { status, headers } = reader;
    if (status === 200) reader.cut();
    else await reader.over;
    const { 'x-run-id': run, 'x-chat-id': chat, 'x-agent-run-admitted': admitted } = headers;
    return { status, body: status === 200 ? null : JSON.parse(reader.text), run, chat, admitted };
  }

  /** An ended run's request again, read to its end. A stream that is cut by a delete is asked for again. */
  async replay(fields: Body): Promise<unknown> {
    for (;;) {
      const reader = await this.#post(fields);
      const isWhole = await reader.over;
      if (reader.status !== 200) return { status: reader.status, body: JSON.parse(reader.text) };
      if (isWhole) return { status: 200, last: reader.frames.at(-1)?.event, answer: reader.answer };
    }
  }

  /** The model's call of a run, as soon as there is one. */
  async #call(): Promise<ModelCall> {
    const find = () => this.#rig.model.calls.findLast(({ request }) => request.runId === this.#heldId);
    await until('the call of a model', () => find() !== undefined, { pauseMs: 1 });
    return find() as ModelCall;
  }

  get #heldId(): string {
    return String(this.#held?.headers['x-run-id']);
  }

  /** Starts a run whose model waits. */
  async hold(fields: Body): Promise<void> {
    this.#held = await this.#post(fields);
    if (this.#held.status !== 200) throw new Error(`A run was not admitted: ${this.#held.status}`);
    await this.#call();
  }

  /** The model ends its answer; the result is how the stream ended. */
  async finish(): Promise<unknown> {
    const call = await this.#call();
    await Promise.race([call.end(), call.closed]);
    await this.#held?.over;
    const messages = this.#held?.frames.find(({ event }) => event === 'messages');
    return { status: messages === undefined ? null : JSON.parse(messages.data).status };
  }

  cancel(): Promise<unknown> {
    return this.do(['POST', `/runs/${this.#heldId}/cancel`]);
  }

  sign(fields: Body = {}): Promise<Answer> {
    return this.api.post('/create_agency_upload', signing(FILE_BYTES, { apiIntegrationId: this.name, ...fields }));
  }
}

const RUNS = { allowances: { unit: 'runs', limit: 1, period: 'lifetime' } };
const ANN = '/members/ann';
const FILE = '/app/mnt/u/a.txt';
const IN_FILE = { folder: FILE };
const path = encodeURIComponent(FILE);
const folder = encodeURIComponent('/app/mnt/u');
const bytes = Buffer.alloc(FILE_BYTES, 'x');
const FIRST = { chatId: 'c', aliasChatId: 'a', usageRequestId: 'u0' };

const complete = (fields: Body) => (subject: Subject) => subject.complete(fields);
const sign = (fields: Body) => (subject: Subject) => settledAnswer(subject.sign(fields));
const create = (change: (name: string) => string, fields: Body) => (subject: Subject) =>
  settledAnswer(subject.api.post('/v2/integrations', { apiIntegrationId: change(subject.name), ...fields }));
const same = (text: string) => text;
const upper = (text: string) => text.toUpperCase();
const revoke = (by: number, key: number) => (subject: Subject) =>
  settledAnswer(subject.keys[by]?.api.delete(`/v2/api_keys/${subject.keys[key]?.id}`) as Promise<Answer>);
const newOwner = (change: (name: string) => string) => (subject: Subject) =>
  settledAnswer(subject.api.post('/v2/owners', { email: change(`new-${subject.name}@example.com`) }));
const run = { cancel: (subject: Subject) => subject.cancel(), finish: (subject: Subject) => subject.finish() };

/** An owner with two keys, each of which revokes itself: one of them must stay. */
async function makeOwner(subject: Subject): Promise<void> {
  const made = await subject.made(subject.api.post('/v2/owners', { email: `${subject.name}@example.com` }));
  const first = subject.api.as(String(made.apiKey));
  const key = await subject.made(first.post('/v2/api_keys', { name: 'second' }));
  const apis = [first, subject.api.as(String(key.apiKey))];
  subject.keys = await Promise.all(apis.map(async (api) => ({ api, id: (await api.get('/v2/me')).body.key.keyId })));
}

const adjust = (amount: number, idempotencyKey: string) =>
  ['POST', `${ANN}/adjustments`, { amount, unit: 'runs', reason: 'r', idempotencyKey }] as const;

const MEMBER: Pick<SubjectPlan, 'operations' | 'state'> = {
  operations: {
    'put name': ['PUT', ANN, { name: 'Ann' }],
    'put inactive': ['PUT', ANN, { active: false }],
    'put limit': ['PUT', ANN, { allowance: { limit: 5 } }],
    delete: ['DELETE', ANN],
    complete: complete({ consumerId: 'ann', chatId: 'c1', usageRequestId: 'u1' }),
    'complete elsewhere': complete({ consumerId: 'ann', chatId: 'c2', usageRequestId: 'u2' }),
    'create chat': ['POST', '/chats', { chatId: 'c1', consumerId: 'ann' }],
    take: adjust(-2, 'k1'),
    'take with the same key': adjust(-3, 'k1'),
    'give back': adjust(1, 'k2'),
  },
  state: [ANN, '/chats', '/runs', '/usage'],
};

const FILES: Pick<SubjectPlan, 'operations' | 'state'> = {
  operations: {
    sign: sign({}),
    'sign below it': sign(IN_FILE),
    send: async ({ form }) => ({ status: await sendForm(form as SignedForm, bytes) }),
    delete: ['DELETE', `/files?path=${path}`],
    'delete folder': ['DELETE', `/files?path=${folder}&recursive=true`],
    complete: complete({ usageRequestId: 'u', sandboxFiles: [{ name: 'a.txt', path: FILE }] }),
  },
  state: ['/files', `/files?folder=${folder}`, '/runs'],
};

async function signFile(subject: Subject): Promise<SignedForm> {
  await subject.integration();
  subject.form = (await subject.made(subject.sign())) as unknown as SignedForm;
  return subject.form;
}

/** Every subject by its name: what it is, and its state. */
export const PAIR_SUBJECTS: Readonly<Record<string, SubjectPlan>> = {
  'new member': { prepare: (subject) => subject.integration(RUNS), ...MEMBER },
  member: { prepare: (subject) => subject.integration(RUNS).then(() => subject.member()), ...MEMBER },
  'new chat': {
    prepare: (subject) => subject.integration(),
    operations: {
      create: ['POST', '/chats', { chatId: 'c', aliasChatId: 'a' }],
      'create another': ['POST', '/chats', { chatId: 'd', aliasChatId: 'a' }],
      complete: complete({ chatId: 'c', usageRequestId: 'u1' }),
      'complete by alias': complete({ aliasChatId: 'a', usageRequestId: 'u2' }),
      'complete by both': complete({ chatId: 'c', aliasChatId: 'a', usageRequestId: 'u3' }),
      'same request': complete({ chatId: 'c', usageRequestId: 'u1' }),
      'another body': complete({ chatId: 'c', usageRequestId: 'u1', message: 'Another' }),
      delete: ['DELETE', '/chats/c'],
    },
    state: ['/chats', '/runs', '/usage'],
  },
  'idle chat': {
    prepare: async (subject) => {
      await subject.integration();
      await subject.hold(FIRST);
      await subject.finish();
    },
    operations: {
      complete: complete({ chatId: 'c', usageRequestId: 'u1' }),
      'complete by alias': complete({ aliasChatId: 'a', usageRequestId: 'u2' }),
      create: ['POST', '/chats', { chatId: 'c' }],
      replay: (subject) => subject.replay(FIRST),
      'patch title': ['PATCH', '/chats/c', { title: 'One' }],
      'patch metadata': ['PATCH', '/chats/c', { metadata: { a: 1 } }],
      delete: ['DELETE', '/chats/c'],
    },
    state: ['/chats', '/runs', '/chats/c/messages'],
  },
  'running chat': {
    prepare: (subject) => subject.integration().then(() => subject.hold(FIRST)),
    operations: {
      ...run,
      complete: complete({ chatId: 'c', usageRequestId: 'u1' }),
      replay: complete(FIRST),
      delete: ['DELETE', '/chats/c'],
    },
    state: ['/chats', '/runs', '/usage'],
  },
  'new integration': {
    prepare: async () => {},
    operations: {
      create: create(same, { name: 'One' }),
      'create with an allowance': create(same, RUNS),
      'create in upper case': create(upper, {}),
      patch: ['PATCH', '', { name: 'Two' }],
      delete: ['DELETE', ''],
      complete: complete({ usageRequestId: 'u' }),
    },
    state: ['', '/runs'],
  },
  integration: {
    prepare: (subject) => subject.integration(),
    operations: {
      'patch name': ['PATCH', '', { name: 'Two' }],
      'patch text': ['PATCH', '', { textOnly: true }],
      'patch allowances': ['PATCH', '', RUNS],
      delete: ['DELETE', ''],
      complete: complete({ chatId: 'c', usageRequestId: 'u' }),
      'put member': ['PUT', ANN, { name: 'Ann' }],
      'create chat': ['POST', '/chats', { chatId: 'd' }],
      sign: sign({}),
    },
    state: ['', '/members', '/chats', '/runs'],
  },
  'running integration': {
    prepare: async (subject) => {
      await subject.integration(RUNS);
      await subject.member();
      await subject.hold({ chatId: 'c', consumerId: 'ann', usageRequestId: 'u' });
    },
    operations: {
      ...run,
      delete: ['DELETE', ''],
      'raise the limit': ['PATCH', '', { allowances: { ...RUNS.allowances, limit: 9 } }],
      'delete member': ['DELETE', ANN],
      complete: complete({ chatId: 'd', consumerId: 'ann', usageRequestId: 'u2' }),
    },
    state: ['', '/members', '/runs', '/usage'],
  },
  owner: {
    prepare: makeOwner,
    operations: {
      'revoke first': revoke(0, 0),
      'revoke second': revoke(1, 1),
      'revoke second by first': revoke(0, 1),
      'create owner': newOwner(same),
      'create owner in upper case': newOwner(upper),
    },
    state: ({ keys }) => Promise.all(keys.map(async ({ api }) => (await api.get('/v2/me')).status)),
  },
  'new file': { prepare: signFile, ...FILES },
  file: { prepare: async (subject) => sendForm(await signFile(subject), bytes), ...FILES },
  // Room for one of two files.
  quota: {
    prepare: (subject) => subject.integration(),
    operations: {
      'sign a': sign({ filename: 'a.txt' }),
      'sign b': sign({ filename: 'b.txt' }),
      'sign a as folder': sign({ ...IN_FILE, filename: 'c.txt' }),
    },
    state: ['/files'],
  },
};
