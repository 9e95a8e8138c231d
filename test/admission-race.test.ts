import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { askDatabase, hookStore, imageAttachment, makePng, migratedDatabase } from '@runwire/test-kit';
import { within } from '@runwire/test-kit/shortfall.ts';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { AttachmentRig, fileAt } from './support/attachment-rig.ts';
import { eventually } from './support/eventually.ts';
import { refusal, ScriptedServer } from './support/scripted-server.ts';
import { missingService } from './support/services.ts';
import { signing } from './support/uploads.ts';

const skip = (await missingService('postgres')) ?? false;

class Between {
  #next: (() => Promise<unknown>) | null = null;
  #after = '';
  #missing = 0;
  #gathered = Promise.withResolvers<void>();
  /** The names of all writes, also of transactions that failed. */
  writes: string[] = [];

  /** Calls a function once in a transaction, after the named statement and before the writes. */
  do(what: () => Promise<unknown>, after = 'admission facts'): void {
    this.#next = what;
    this.#after = after;
  }

  /** The next admissions, as many as `count`, reach the store in one turn. */
  gather(count: number): void {
    this.#missing = count;
    this.#gathered = Promise.withResolvers();
    this.writes = [];
  }

  readonly wrapStore = hookStore({
    transact: async (name, transact) => {
      if (name === 'admit' && this.#missing > 0) {
        this.#missing -= 1;
        if (this.#missing === 0) this.#gathered.resolve();
        await this.#gathered.promise;
      }
      return transact();
    },
    write: (statement, write) => {
      this.writes.push(statement);
      return write();
    },
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
async function answeredOrWaiting(dataDir: string, answer: Promise<unknown>): Promise<void> {
  let isAnswered = false;
  const answered = () => {
    isAnswered = true;
  };
  answer.then(answered, answered);
  const waiting = `select 1 from pg_locks l join pg_stat_activity a using (pid) where not l.granted
    and l.locktype in ('transactionid', 'tuple') and a.datname = current_database()`;
  await eventually('it waits', async () => isAnswered || (await askStore(dataDir, waiting)).length > 0);
}

describe('PostgreSQL', { skip }, () => {
  const between = new Between();
  const rig = ScriptedServer.shared({ store: 'postgres', wrapStore: between.wrapStore });

  test('a completion and the DELETE of its integration exclude each other', async (t) => {
    cites(t, 'contract-4-one-transaction');
    for (const fields of [{}, { consumerId: 'ann' }]) {
      const first = await rig.integration();
      await rig.member(first, 'ann');
      const deleted = Promise.withResolvers<Awaited<ReturnType<typeof rig.api.delete>>>();
      between.do(() => {
        const answer = rig.api.delete(`/v2/integrations/${first}`);
        answer.then(deleted.resolve, deleted.reject);
        return answeredOrWaiting(rig.server.dataDir, answer);
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
        return answeredOrWaiting(rig.server.dataDir, answer);
      }, 'active run of integration');
      assert.equal((await rig.api.delete(`/v2/integrations/${second}`)).status, 204);
      const refused = await refusal(await completed.promise);
      assert.deepEqual([refused.status, refused.admitted], [404, 'false'], 'the DELETE was first');
      assert.equal(refused.body.code, 'integration_not_found');
    }
  });

  test('a signing and a completion do not wait for each other', async () => {
    const signed = Promise.withResolvers<number>();
    between.do(async () => signed.resolve((await rig.api.post('/create_agency_upload', signing(1))).status));
    await rig.answer({ message: 'Hi' });
    assert.equal(await signed.promise, 200);
  });

  test('a request with images that loses the race for a new chat gets 409', async () => {
    const integration = await rig.integration();
    const of = (body: object) => ({ apiIntegrationId: integration, ...body });
    const winner = Promise.withResolvers<Awaited<ReturnType<typeof rig.hold>>>();
    between.do(async () => {
      await rig.api.post(`/v2/integrations/${integration}/chats`, { chatId: 'c', aliasChatId: 'a' });
      // On one node, requests with the same name do not race.
      winner.resolve(await rig.hold(of({ aliasChatId: 'a', usageRequestId: 'won' })));
    });
    const { status, admitted, body } = await refusal(
      await rig.api.complete(of({ chatId: 'c', usageRequestId: 'lost', attachments: [imageAttachment(makePng(100))] })),
    );
    assert.deepEqual([status, admitted, body.code], [409, 'false', 'run_active']);
    const held = await winner.promise;
    assert.equal(body.runId, held.runId);
    await held.finish();
  });

  test('members that name the same new chat do not make other admissions fail', async () => {
    const integration = await rig.integration();
    for (const consumerId of ['ann', 'ben', 'cat']) await rig.member(integration, consumerId);
    for (const name of [{ chatId: 'c' }, { aliasChatId: 'a' }]) {
      between.gather(3);
      const bodies = [{ consumerId: 'ann', ...name }, { consumerId: 'ben', ...name }, { consumerId: 'cat' }];
      const answers = await Promise.allSettled(
        bodies.map((body) => rig.answer({ apiIntegrationId: integration, ...body })),
      );
      const refused = answers.filter((answer) => answer.status === 'rejected').map(({ reason }) => String(reason));
      assert.equal(refused.length, 1);
      assert.match(refused[0] ?? '', /chat_not_found/);
      const inserts = between.writes.filter((statement) => statement === 'insert chats');
      assert.equal(inserts.length, 2, 'no transaction was rolled back and repeated');
    }
  });

  test('requests of two integrations may use the same names concurrently', async () => {
    const integrations = [await rig.integration(), await rig.integration()] as const;
    const chatIn = async (apiIntegrationId: string) =>
      (await rig.answer({ apiIntegrationId, chatId: 'c', aliasChatId: 'a' })).reader.headers['x-chat-id'];
    const concurrent = Promise.withResolvers<unknown>();
    between.do(async () => concurrent.resolve(await within('the other', 15_000, chatIn(integrations[1]))));
    assert.deepEqual([await chatIn(integrations[0]), await concurrent.promise], ['c', 'c']);
  });

  test('a request whose chat gets another alias concurrently is refused', async () => {
    const integration = await rig.integration();
    const body = { apiIntegrationId: integration, chatId: 'c' };
    await rig.answer(body);
    // Another node binds the alias.
    const bind = `update chats set alias = 'first' where integration_id = '${integration}'`;
    between.do(() => askStore(rig.server.dataDir, bind));
    const refused = await refusal(await rig.api.complete({ ...body, aliasChatId: 'second' }));
    assert.deepEqual([refused.status, refused.admitted, refused.body.code], [400, 'false', 'invalid_request']);
    const { body: runs } = await rig.api.get(`/v2/integrations/${integration}/runs`);
    assert.equal(runs.items.length, 1, 'nothing was reserved');
  });

  test('a message to a chat that is deleted concurrently starts a new chat', async () => {
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
  // The file server's clock is slow: it accepts a link that has expired for every other clock.
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
