import { test } from 'node:test';
import { freshDatabase, type Protocol, postgresFolder } from '@runwire/test-kit';
import { count, plantedFault } from '@runwire/test-kit/scale.ts';
import { expectEqual, Shortfall, until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { blobsIn, fileAt } from './support/attachment-rig.ts';
import { AttachmentStage, shownTo } from './support/attachment-stage.ts';

/** The sweep deletes unused copies immediately, and runs only when it is asked. */
const LIMITS = { unusedBlobMs: 0, sweepMs: 3_600_000 };
const FIELD = '`attachmentUrlRefreshes`';
const HOUR_MS = 3_600_000;

type Refreshes = Readonly<Record<string, string>>;
interface Message {
  readonly link?: string;
  readonly refreshes?: Refreshes;
}

const figures = { stores: 0, modes: 3, stable_turns: 0, refused: 0 };

const copiesIn = ({ rig }: AttachmentStage): number => blobsIn(rig.dataDir).length;

/** The scratch copy of a run is deleted a moment after its end. */
async function expectCopies(stage: AttachmentStage, what: string, count: number): Promise<void> {
  await until(what, () => copiesIn(stage) === count).catch(() => {});
  expectEqual(`${what}: copies`, copiesIn(stage), count);
}

/** A chat about one file with signed links. */
class SignedChat {
  readonly #stage: AttachmentStage;
  readonly integration: string;
  readonly chatId: string;
  readonly path: string;
  readonly sentence: string;
  #prompt: readonly string[] = [];

  constructor(stage: AttachmentStage, integration: string, chatId: string) {
    this.#stage = stage;
    this.integration = integration;
    this.chatId = chatId;
    this.path = `/${integration}/${chatId}/report.txt`;
    this.sentence = `The report of ${chatId} is good.`;
    stage.files.serveSigned(this.path, this.sentence, 'text/plain');
  }

  /** The URL without its query. */
  get key(): string {
    return this.#stage.files.url(this.path);
  }
  sign = () => this.#stage.files.sign(this.path);
  signExpired = () => this.#stage.files.sign(this.path, { at: new Date(Date.now() - HOUR_MS), expiresSeconds: 60 });

  /** The first turn, when a link that is expired now was still good. */
  async firstTurn(what: string): Promise<void> {
    this.#stage.files.now = () => Date.now() - HOUR_MS;
    await this.turn(what, { link: this.signExpired() });
    this.#stage.files.now = Date.now;
  }

  expectRequests(what: string, count: number, link?: string): void {
    const asked = this.#stage.files.asked(this.path);
    expectEqual(`${what}: requests of the file`, asked.length, count);
    if (link !== undefined) expectEqual(`${what}: query`, asked.at(-1)?.query, new URL(link).search);
  }

  body({ link, refreshes }: Message = {}) {
    return {
      apiIntegrationId: this.integration,
      chatId: this.chatId,
      message: link === undefined ? 'And now?' : 'What does it say?',
      ...(link === undefined ? {} : { attachments: [fileAt(link)] }),
      ...(refreshes === undefined ? {} : { attachmentUrlRefreshes: refreshes }),
    };
  }

  /** A turn that completes: its prompt has the file, and begins byte for byte as the one before. */
  async turn(what: string, message: Message = {}): Promise<void> {
    const { asked } = await this.#stage.completes(what, this.body(message));
    const prompt: string[] = (asked.input ?? asked.messages).map((item: unknown) => JSON.stringify(item));
    expectEqual(`${what}: the file is in the prompt`, prompt.join().includes(this.sentence), true);
    expectEqual(`${what}: how its prompt begins`, prompt.slice(0, this.#prompt.length), this.#prompt);
    if (this.#prompt.length > 0) figures.stable_turns += 1;
    this.#prompt = prompt;
  }

  /** A turn that fails because its link is void. */
  async fails(what: string, message: Message = {}): Promise<void> {
    const { ending, reader } = await this.#stage.turn(what, this.body(message));
    const error = ending.error ?? {};
    const isNamed = error.message?.includes(`${this.key}, could not be fetched: its server answered 403`);
    expectEqual(`${what}: end`, [error.code, isNamed], ['attachment_unavailable', true]);
    expectEqual(`${what}: a query is shown`, /X-Amz-/.test(reader.text), false);
  }

  /** A turn that is refused before there is a run: nothing is fetched, asked or stored. */
  async isRefused(what: string, refreshes: Refreshes | undefined, names: string): Promise<void> {
    const { files, provider, api } = this.#stage;
    const path = `/v2/integrations/${this.integration}/chats/${this.chatId}/messages`;
    const state = async () => [files.requests.length, provider.calls.length, (await api.get(path)).body.items.length];
    const before = await state();
    const reader = await this.#stage.post(this.body(refreshes === undefined ? {} : { refreshes }));
    await within(`${what}: end of its answer`, WAIT_MS, reader.over);
    expectEqual(`${what}: answer`, [reader.status, reader.headers['x-agent-run-admitted']], [400, 'false']);
    const { code, error } = JSON.parse(reader.text);
    const isNamed = error.includes(names) && !/X-Amz-/.test(reader.text);
    if (!isNamed) throw new Shortfall(`${what}: expected ${names} and no query, found ${error}`);
    expectEqual(`${what}: code`, code, 'invalid_attachment_refresh');
    expectEqual(`${what}: requests, calls and messages`, await state(), before);
    figures.refused += 1;
  }
}

/** Copies are kept: one request forever, whatever happens to the link. */
async function kept(stage: AttachmentStage): Promise<void> {
  await stage.rig.prepare({ apiIntegrationId: 'kept' }, 'ann');
  const chat = new SignedChat(stage, 'kept', 'a');
  await chat.firstTurn('kept, first turn');
  await chat.turn('kept, expired');
  await chat.turn('kept, expired and refreshed', { refreshes: { [chat.key]: chat.sign() } });
  chat.expectRequests('kept', 1);
  const again = chat.sign();
  await chat.turn('kept, attached again', { link: again });
  chat.expectRequests('kept, attached again', 2, again);
}

/** No copies, from the beginning (`off`) or after a sweep (`swept`): each turn fetches by the link that is good. */
async function notKept(stage: AttachmentStage, name: 'off' | 'swept'): Promise<void> {
  await stage.rig.prepare({ apiIntegrationId: name, keepAttachments: name === 'swept' }, 'ann');
  const chat = new SignedChat(stage, name, 'a');
  const copies = copiesIn(stage);
  await chat.firstTurn(`${name}, first turn`);
  if (name === 'swept') {
    await chat.turn('swept, before the sweep');
    const { status } = await stage.api.patch('/v2/integrations/swept', { keepAttachments: false });
    expectEqual('swept: status of the change', status, 200);
    await stage.server.sweepBlobs();
  }
  chat.expectRequests(`${name}, before`, 1);
  await expectCopies(stage, name, copies);
  await chat.isRefused(`${name}, expired and not listed`, undefined, chat.key);
  const fresh = chat.sign();
  await chat.turn(`${name}, expired and refreshed`, { refreshes: { [chat.key]: fresh } });
  chat.expectRequests(`${name}, refreshed`, 2, fresh);
  await chat.turn(`${name}, with the fresh link`);
  chat.expectRequests(`${name}, the turn after`, 3, fresh);
  // Signing again makes the earlier link void, which only its server knows.
  const other = chat.sign();
  await chat.fails(`${name}, void`);
  await stage.completes(`${name}, refreshed after it was void`, chat.body({ refreshes: { [chat.key]: other } }));
  chat.expectRequests(`${name}, after it was void`, 5, other);
  await expectCopies(stage, `${name}, in the end`, copies);
}

/** Wrong keys and values. */
async function refuses(stage: AttachmentStage): Promise<void> {
  const chat = new SignedChat(stage, 'off', 'refusals');
  await chat.turn('refusals, first turn', { link: chat.sign() });
  const { key } = chat;
  const good = chat.sign();
  const unknown = stage.files.url('/other.txt');
  const elsewhere = new SignedChat(stage, 'off', 'a');
  const wrong: Readonly<Record<string, Refreshes>> = {
    'a key of another file': { [unknown]: `${unknown}?a` },
    'a key of another chat': { [elsewhere.key]: elsewhere.sign() },
    'a key with a query': { [`${key}?X-Amz-Date=1`]: good },
    'a key with a fragment': { [`${key}#top`]: good },
    'a value of another path': { [key]: `${unknown}?X-Amz-Date=1` },
    'a value of another host': { [key]: good.replace('127.0.0.1', 'files.example.com') },
    'a value of another port': { [key]: good.replace(new URL(key).origin, 'https://127.0.0.1') },
    'a value that is not https': { [key]: good.replace('https:', 'http:') },
    'a value that has expired': { [key]: chat.signExpired() },
  };
  for (const [name, refreshes] of Object.entries(wrong)) await chat.isRefused(name, refreshes, FIELD);
}

/** Two integrations with the same bytes share nothing, and a deleted chat leaves nothing. */
async function apart(stage: AttachmentStage): Promise<void> {
  const copies = copiesIn(stage);
  const bytes = 'The same bytes for both of them.';
  const path = '/shared/report.txt';
  const attachments = [fileAt(stage.files.serve(path, bytes, 'text/plain'))];
  for (const apiIntegrationId of ['one', 'two']) {
    await stage.rig.prepare({ apiIntegrationId }, 'ann');
    await stage.completes(`of ${apiIntegrationId}`, { apiIntegrationId, chatId: 'same', attachments });
  }
  expectEqual('requests by two integrations', stage.files.asked(path).length, 2);
  expectEqual('copies of two integrations', copiesIn(stage), copies + 2);
  await stage.completes('attached twice', { apiIntegrationId: 'one', chatId: 'second', attachments });
  expectEqual('copies of two chats of one', copiesIn(stage), copies + 2);
  const forget = async (integration: string, chatId: string, left: number) => {
    const { status } = await stage.api.delete(`/v2/integrations/${integration}/chats/${chatId}`);
    expectEqual(`status of the deletion of ${integration} ${chatId}`, status, 204);
    await stage.server.sweepBlobs();
    expectEqual(`copies after the deletion of ${integration} ${chatId}`, copiesIn(stage), copies + left);
  };
  await forget('one', 'second', 2);
  await forget('one', 'same', 1);
  const { asked } = await stage.completes('of two, again', { apiIntegrationId: 'two', chatId: 'same' });
  expectEqual('file of the other', shownTo(asked).text.includes(bytes), true);
  expectEqual('requests in the end', stage.files.asked(path).length, 3);
  await forget('two', 'same', 0);
}

async function play(fault: string | null, protocol: Protocol, env: Readonly<Record<string, string>>): Promise<void> {
  await using stage = await AttachmentStage.start(fault, protocol, { limits: LIMITS, env });
  await kept(stage);
  await notKept(stage, 'off');
  await refuses(stage);
  await apart(stage);
  await notKept(stage, 'swept');
  expectEqual('a query is in the log', /X-Amz-Signature=/.test(stage.server.output), false);
  figures.stores += 1;
}

test('a chat continues after its links have expired', async (t) => {
  const fault = plantedFault();
  if (postgresFolder() === null) return t.skip('refresh: PostgreSQL is not installed.');
  await play(fault, 'responses', {});
  await using database = await freshDatabase();
  await play(fault, 'chat', { DATABASE_URL: database.url });
  count(figures);
});
