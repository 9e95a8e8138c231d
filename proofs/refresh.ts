import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freshDatabase, type Protocol, postgresFolder } from '@runwire/test-kit';
import { AttachmentStage, shownTo, WAIT_MS } from './support/attachment-stage.ts';
import { expectEqual, expectNumber, LeftOut, type Proof, Shortfall, within } from './support/proof.ts';
import { SignedChat } from './support/signed-chat.ts';

/** Copies that nothing refers to are deleted by the next sweep, and that comes when it is told to. */
const LIMITS = { unusedBlobMs: 0, sweepMs: 3_600_000 };

/** The copies that lie in the data folder. */
const copiesIn = (stage: AttachmentStage): number =>
  (readdirSync(join(stage.dataDir, 'blobs'), { recursive: true }) as string[]).filter((path) =>
    /^[0-9a-f]{2}\/./.test(path),
  ).length;

/** Nobody waits for the deletes of what a run had put aside. */
async function expectSoon(stage: AttachmentStage, what: string, count: number): Promise<void> {
  const until = performance.now() + WAIT_MS;
  while (copiesIn(stage) !== count && performance.now() < until) await sleep(20);
  expectNumber(what, copiesIn(stage), count);
}

async function expectCopies(stage: AttachmentStage, what: string, count: number): Promise<void> {
  await stage.server.sweepBlobs();
  expectNumber(`${what}: copies after a sweep`, copiesIn(stage), count);
}

/** Copies are kept: one request for ever, whatever becomes of the link. */
async function kept(stage: AttachmentStage): Promise<void> {
  await stage.integration('kept');
  const chat = new SignedChat(stage, 'kept', 'a');
  const first = chat.signExpired();
  await chat.anHourAgo(() => chat.turn('kept, first turn', { link: first }));
  await chat.turn('kept, expired');
  await chat.turn('kept, expired and refreshed', { refreshes: { [chat.key]: chat.sign() } });
  expectNumber('kept: requests of the file', chat.requests, 1);
  const again = chat.sign();
  await chat.turn('kept, attached again', { link: again });
  expectNumber('kept: requests of the file once it was attached again', chat.requests, 2);
  expectEqual('kept: query of the second request', chat.lastQuery, new URL(again).search);
}

/** No copies: each turn fetches, by the link that is good. */
async function withoutCopies(stage: AttachmentStage, chat: SignedChat, name: string, before: number): Promise<void> {
  await chat.isRefused(`${name}, expired and not listed`, undefined, chat.key);
  const fresh = chat.sign();
  await chat.turn(`${name}, expired and refreshed`, { refreshes: { [chat.key]: fresh } });
  expectNumber(`${name}: requests of the file`, chat.requests, before + 1);
  expectEqual(`${name}: query that was asked for`, chat.lastQuery, new URL(fresh).search);
  await chat.turn(`${name}, with the fresh link`);
  expectNumber(`${name}: requests of the file in the turn after`, chat.requests, before + 2);
  expectEqual(`${name}: query in the turn after`, chat.lastQuery, new URL(fresh).search);
  // Void, which no text shows: its server alone can say so.
  const other = chat.sign();
  const failed = await stage.turn(`${name}, void`, chat.body());
  expectEqual(`${name}, void: end`, failed.ending.error?.code, 'attachment_unavailable');
  if (!failed.ending.error.message.includes(`${chat.key}, could not be fetched: its server answered 403`)) {
    throw new Shortfall(`${name}, void: expected the URL and why, found ${failed.ending.error.message}`);
  }
  if (/X-Amz-/.test(failed.reader.text)) throw new Shortfall(`${name}, void: expected no query, found one.`);
  await stage.completes(`${name}, refreshed once it was void`, chat.body({ refreshes: { [chat.key]: other } }));
  expectEqual(`${name}: query once it was void`, chat.lastQuery, new URL(other).search);
}

async function off(stage: AttachmentStage): Promise<void> {
  await stage.integration('off', { keepAttachments: false });
  const chat = new SignedChat(stage, 'off', 'a');
  const copies = copiesIn(stage);
  await chat.anHourAgo(async () => {
    await chat.turn('off, first turn', { link: chat.signExpired() });
    expectNumber('off: requests of the file', chat.requests, 1);
  });
  await expectSoon(stage, 'off: copies', copies);
  await withoutCopies(stage, chat, 'off', 1);
  await expectSoon(stage, 'off: copies in the end', copies);
}

async function swept(stage: AttachmentStage): Promise<void> {
  await stage.integration('swept');
  const chat = new SignedChat(stage, 'swept', 'a');
  const copies = copiesIn(stage);
  await chat.anHourAgo(() => chat.turn('swept, first turn', { link: chat.signExpired() }));
  await chat.turn('swept, before the sweep');
  expectNumber('swept: requests of the file before the sweep', chat.requests, 1);
  const { status } = await stage.api.patch('/v2/integrations/swept', { keepAttachments: false });
  expectNumber('swept: status of the switch', status, 200);
  await expectCopies(stage, 'swept', copies);
  await withoutCopies(stage, chat, 'swept', 1);
}

/** Keys and values that are none, each by the name of what is wrong. */
async function refuses(stage: AttachmentStage): Promise<void> {
  const chat = new SignedChat(stage, 'off', 'refusals');
  await chat.turn('refusals, first turn', { link: chat.sign() });
  const { key } = chat;
  const good = chat.sign();
  const origin = new URL(key).origin;
  const elsewhere = new SignedChat(stage, 'off', 'a');
  const wrong: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['a key of another file', { [stage.files.url('/other.txt')]: `${stage.files.url('/other.txt')}?a` }],
    ['a key of another chat', { [elsewhere.key]: elsewhere.sign() }],
    ['a key with a query', { [`${key}?X-Amz-Date=1`]: good }],
    ['a key with a fragment', { [`${key}#top`]: good }],
    ['a value of another path', { [key]: stage.files.url('/other.txt?X-Amz-Date=1') }],
    ['a value of another host', { [key]: good.replace('127.0.0.1', 'files.example.com') }],
    ['a value of another port', { [key]: good.replace(origin, 'https://127.0.0.1') }],
    ['a value that is not https', { [key]: good.replace('https:', 'http:') }],
    ['a value that has expired', { [key]: chat.signExpired() }],
  ];
  for (const [name, refreshes] of wrong) await chat.isRefused(name, refreshes, '`attachmentUrlRefreshes`');
}

/** Of a failed turn the URL is known and the file is not sent; of a cancelled one what was fetched is. */
async function otherEnds(stage: AttachmentStage): Promise<void> {
  for (const integration of ['kept', 'off']) {
    const failing = new SignedChat(stage, integration, 'failed');
    const link = failing.sign();
    const fresh = failing.sign();
    const failed = await stage.turn(`${integration}, void at once`, failing.body({ link }));
    expectEqual(`${integration}, void at once: end`, failed.ending.error?.code, 'attachment_unavailable');
    const what = `${integration}, after a failed turn`;
    const { asked } = await stage.completes(what, failing.body({ refreshes: { [failing.key]: fresh } }));
    if (shownTo(asked).text.includes(failing.sentence)) throw new Shortfall(`${what}: expected no file, found it.`);
    expectNumber(`${what}: requests of the file`, failing.requests, 1);
    await failing.turn(`${integration}, attached again`, { link: fresh });

    const cancelling = new SignedChat(stage, integration, 'cancelled');
    stage.provider.onCall = null;
    const reader = await stage.post(cancelling.body({ link: cancelling.sign() }));
    const call = await within('call of the run to cancel', WAIT_MS, stage.provider.nextCall());
    const runId = String(reader.headers['x-run-id']);
    const cancelled = await stage.api.post(`/v2/integrations/${integration}/runs/${runId}/cancel`);
    expectEqual(`${integration}: status of the cancel`, Math.floor(cancelled.status / 100), 2);
    await within('end of the cancelled run', WAIT_MS, reader.over);
    await call.closed;
    stage.answerAll();
    await cancelling.turn(`${integration}, after a cancelled turn`);
  }
}

/** The same request with links that were signed anew. */
async function replays(stage: AttachmentStage): Promise<void> {
  const chat = new SignedChat(stage, 'kept', 'replayed');
  const body = { ...chat.body({ link: chat.sign() }), usageRequestId: 'replayed' };
  const first = await stage.completes('replay, the first', body);
  const other = { ...chat.body({ link: chat.sign() }), usageRequestId: 'replayed' };
  const refreshed = { ...other, attachmentUrlRefreshes: { [chat.key]: chat.sign() } };
  for (const again of [other, refreshed]) {
    const reader = await stage.post(again);
    await within('end of the replay', WAIT_MS, reader.over);
    const told = [reader.status, reader.headers['x-run-id'], reader.headers['x-run-replayed']];
    expectEqual('replay', told, [200, first.runId, 'true']);
  }
  expectNumber('replay: requests of the file', chat.requests, 1);
}

/** Two integrations with the same bytes know nothing of each other, and a deleted chat leaves nothing. */
async function apart(stage: AttachmentStage): Promise<void> {
  const copies = copiesIn(stage);
  const bytes = 'The same bytes for both of them.';
  const path = '/shared/report.txt';
  stage.files.serve(path, bytes, 'text/plain');
  const attachments = [{ type: 'input_file', file_url: stage.files.url(path) }];
  for (const apiIntegrationId of ['one', 'two']) {
    await stage.integration(apiIntegrationId);
    await stage.completes(`of ${apiIntegrationId}`, { apiIntegrationId, chatId: 'same', attachments });
  }
  expectNumber('requests by two integrations', stage.files.asked(path).length, 2);
  expectNumber('copies of two integrations', copiesIn(stage), copies + 2);
  await stage.completes('attached twice', { apiIntegrationId: 'one', chatId: 'second', attachments });
  expectNumber('copies of two chats of one', copiesIn(stage), copies + 2);
  const forget = async (integration: string, chatId: string, left: number) => {
    const { status } = await stage.api.delete(`/v2/integrations/${integration}/chats/${chatId}`);
    expectNumber(`status of the deletion of ${integration} ${chatId}`, status, 204);
    await expectCopies(stage, `after the deletion of ${integration} ${chatId}`, copies + left);
  };
  await forget('one', 'second', 2);
  await forget('one', 'same', 1);
  const { asked } = await stage.completes('of two, again', { apiIntegrationId: 'two', chatId: 'same' });
  expectEqual('file of the other', shownTo(asked).text.includes(bytes), true);
  expectNumber('requests in the end', stage.files.asked(path).length, 3);
  await forget('two', 'same', 0);
}

async function play(fault: string | null, protocol: Protocol, databaseUrl: string | null) {
  const env: Record<string, string> = databaseUrl === null ? {} : { DATABASE_URL: databaseUrl };
  await using stage = await AttachmentStage.start(fault, protocol, { limits: LIMITS, env });
  await kept(stage);
  await off(stage);
  await refuses(stage);
  await apart(stage);
  await swept(stage);
  await otherEnds(stage);
  await replays(stage);
  if (/X-Amz-Signature=/.test(stage.server.said)) throw new Shortfall('log: expected no query, found one.');
  return stage.counts;
}

export const proof: Proof = {
  name: 'refresh',
  minutes: 0.2,
  faults: {
    'fetch-again': /^kept, expired: end: expected \["completed",null\], found \["failed"/m,
    'forget-refreshes': /^off, expired and refreshed: end: expected \["completed",null\], found \["failed"/m,
    'share-copies': /^copies of two integrations: expected \d+, found \d+\.$/m,
    'take-any-key': /^a key of another chat: answer: expected \[400,"false"\], found \[200,"true"\]\.$/m,
  },
  figures: () => ({ stable_turns: 16, refused: 22 }),
  async run({ fault }) {
    if (postgresFolder() === null) throw new LeftOut('refresh: there is no PostgreSQL on this machine.');
    const embedded = await play(fault, 'responses', null);
    await using database = await freshDatabase();
    const shared = await play(fault, 'chat', database.url);
    return {
      stores: 2,
      modes: 3,
      stable_turns: embedded.stableTurns + shared.stableTurns,
      refused: embedded.refused + shared.refused,
    };
  },
};
