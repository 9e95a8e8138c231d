import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askDatabase, hookStore, imageAttachment, migratedDatabase, pngOf } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { AttachmentRig, fileAt } from './support/attachment-rig.ts';
import { eventually } from './support/eventually.ts';
import { refusal, ScriptedServer } from './support/scripted-server.ts';
import { missingService } from './support/services.ts';
import { signing } from './support/uploads.ts';

const skip = (await missingService('postgres')) ?? false;

/** Calls a function once in a transaction, after the named statement and before the writes. */
class Between {
  #next: (() => Promise<unknown>) | null = null;
  #after = '';

  do(what: () => Promise<unknown>, after = 'admission facts'): void {
    this.#next = what;
    this.#after = after;
  }

  readonly wrapStore = hookStore({
    readInside: async (statement, read) => {
      const rows = await read();
      const next = this.#next;
      if (statement === this.#after && next !== null) {
        this.#next = null;
        await next();
      }
      return rows;
    },
  });
}

/** Resolves when the request is answered, or waits for a row that another transaction has locked. */
async function answeredOrWaiting(databaseUrl: string, answer: Promise<unknown>): Promise<void> {
  let isAnswered = false;
  const answered = () => {
    isAnswered = true;
  };
  answer.then(answered, answered);
  const waiting = `select 1 from pg_locks l join pg_stat_activity a using (pid) where not l.granted
    and l.locktype in ('transactionid', 'tuple') and a.datname = current_database()`;
  await eventually('it waits', async () => isAnswered || (await askDatabase(databaseUrl, waiting)).length > 0);
}

test('a completion and the DELETE of its integration exclude each other', { skip }, async (t) => {
  cites(t, 'contract-4-one-transaction');
  await using database = await migratedDatabase();
  const between = new Between();
  await using rig = await ScriptedServer.start({ env: { DATABASE_URL: database.url }, wrapStore: between.wrapStore });
  for (const fields of [{}, { consumerId: 'ann' }]) {
    const first = await rig.integration();
    await rig.member(first, 'ann');
    const deleted = Promise.withResolvers<Awaited<ReturnType<typeof rig.api.delete>>>();
    between.do(() => {
      const answer = rig.api.delete(`/v2/integrations/${first}`);
      answer.then(deleted.resolve, deleted.reject);
      return answeredOrWaiting(database.url, answer);
    });
    const held = await rig.hold({ apiIntegrationId: first, ...fields });
    const { status, body } = await deleted.promise;
    assert.deepEqual([status, body.code, body.runId], [409, 'run_active', held.runId], 'the completion was first');
    await held.finish();

    const second = await rig.integration();
    await rig.member(second, 'ann');
    const completed = Promise.withResolvers<Awaited<ReturnType<typeof rig.api.complete>>>();
    between.do(() => {
      const answer = rig.api.complete({ apiIntegrationId: second, ...fields });
      answer.then(completed.resolve, completed.reject);
      return answeredOrWaiting(database.url, answer);
    }, 'active run of integration');
    assert.equal((await rig.api.delete(`/v2/integrations/${second}`)).status, 204);
    const refused = await refusal(await completed.promise);
    assert.deepEqual([refused.status, refused.admitted], [404, 'false'], 'the DELETE was first');
    assert.equal(refused.body.code, 'integration_not_found');
  }
});

test('a signing and a completion do not wait for each other', { skip }, async () => {
  await using database = await migratedDatabase();
  const between = new Between();
  await using rig = await ScriptedServer.start({ env: { DATABASE_URL: database.url }, wrapStore: between.wrapStore });
  const signed = Promise.withResolvers<number>();
  between.do(async () => signed.resolve((await rig.api.post('/create_agency_upload', signing(1))).status));
  await rig.answer({ message: 'Hi' });
  assert.equal(await signed.promise, 200);
});

test('a request with images that loses the race for a new chat gets 409', { skip }, async () => {
  await using database = await migratedDatabase();
  const between = new Between();
  await using rig = await ScriptedServer.start({ env: { DATABASE_URL: database.url }, wrapStore: between.wrapStore });
  const winner = Promise.withResolvers<string>();
  between.do(async () => winner.resolve((await rig.hold({ chatId: 'c', usageRequestId: 'won' })).runId));
  const { status, admitted, body } = await refusal(
    await rig.api.complete({ chatId: 'c', usageRequestId: 'lost', attachments: [imageAttachment(pngOf(100))] }),
  );
  assert.deepEqual([status, admitted, body.code], [409, 'false', 'run_active']);
  assert.equal(body.runId, await winner.promise);
});

test('a message to a chat that is deleted concurrently starts a new chat', { skip }, async () => {
  await using database = await migratedDatabase();
  const between = new Between();
  await using rig = await ScriptedServer.start({ env: { DATABASE_URL: database.url }, wrapStore: between.wrapStore });
  const chat = '/v2/integrations/demo/chats/c';
  await rig.answer({ chatId: 'c', message: 'Before' });
  const deleted = Promise.withResolvers<number>();
  between.do(async () => deleted.resolve((await rig.api.delete(chat)).status));
  const { call } = await rig.answer({ chatId: 'c', message: 'Meanwhile' });
  assert.equal(await deleted.promise, 204);
  assert.deepEqual(call.request.prompt, [{ kind: 'user', text: 'Meanwhile' }], 'nothing of the deleted chat');
  await rig.answer({ chatId: 'c', message: 'After' });
  const { body } = await rig.api.get(`${chat}/messages`);
  assert.deepEqual(body.items.map((item: { content: string }) => item.content).toSorted(), [
    'After',
    'Hi',
    'Hi',
    'Meanwhile',
  ]);
});

test('asks for copies that a concurrent sweep released: 400, and no run', { skip }, async () => {
  await using database = await migratedDatabase();
  const between = new Between();
  await using rig = await AttachmentRig.start({
    env: { DATABASE_URL: database.url },
    wrapStore: between.wrapStore,
    limits: { unusedBlobMs: 0, sweepMs: 3_600_000 },
  });
  const { sweepBlobs } = rig.rig.server.server.probes;
  const HOUR_MS = 3_600_000;
  // The clock of the file server is slow: it accepts a link that has expired for every other clock.
  rig.files.now = () => Date.now() - HOUR_MS;
  for (const path of ['/a.txt', '/b.txt']) rig.files.serveSigned(path, path);
  const plain = rig.files.serve('/plain.txt', 'Plain.');
  await sweepBlobs();
  const keep = (keepAttachments: boolean) => rig.api.patch('/v2/integrations/demo', { keepAttachments });
  /** The sweep runs between the reads and the writes of a message to this chat. */
  const race = async (chatId: string) => {
    await keep(false);
    const swept = Promise.withResolvers<number>();
    between.do(async () => swept.resolve(await sweepBlobs()));
    const reader = await rig.api.complete({ chatId, message: 'And?' });
    assert.deepEqual([await swept.promise, reader.status], [1, 400]);
    return refusal(reader);
  };

  await rig.rig.answer({ chatId: 'all', attachments: [fileAt(rig.files.sign('/a.txt'))] });
  const { admitted, body } = await race('all');
  assert.deepEqual([admitted, body.code], ['false', 'invalid_attachment_refresh'], body.error);
  assert.match(body.error, /must list https:\S+\/a\.txt: its link has expired/);

  // If another file of the chat has no copy anyway, its links were checked before the sweep ran.
  await keep(true);
  await rig.rig.answer({ chatId: 'some', attachments: [fileAt(plain), fileAt(rig.files.sign('/b.txt'))] });
  await askDatabase(database.url, `update attachments set blob_key = null where url = '${plain}'`);
  const some = await race('some');
  assert.deepEqual([some.admitted, some.body.code], ['false', 'invalid_attachment_refresh'], some.body.error);
  const { body: runs } = await rig.api.get('/v2/integrations/demo/runs');
  assert.equal(runs.items.length, 2, 'nothing was reserved');
});
