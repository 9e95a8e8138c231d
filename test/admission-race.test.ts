import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askDatabase, freshDatabase, imageAttachment, pngOf, type Store, type Tx } from '@runwire/server/testing';
import { AttachmentRig, fileAt } from './support/attachment-rig.ts';
import { refusal, ScriptedServer } from './support/scripted-server.ts';
import { missingService } from './support/services.ts';

const skip = (await missingService('postgres')) ?? false;

/** Lets something happen once between what an admission has read and what it writes. */
class Between {
  #next: (() => Promise<unknown>) | null = null;

  do(what: () => Promise<unknown>): void {
    this.#next = what;
  }

  readonly wrapStore = (store: Store): Store => ({
    kind: store.kind,
    reads: store.reads,
    transact: (name, job) =>
      store.transact(name, (tx) => {
        const staged: Tx = {
          all: async (statement, params) => {
            const rows = await tx.all(statement, params);
            const next = this.#next;
            if (statement.name === 'admission facts' && next !== null) {
              this.#next = null;
              await next();
            }
            return rows;
          },
          query: (build) => tx.query(build),
          run: (statement, params) => tx.run(statement, params),
        };
        return job(staged);
      }),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  });
}

test('with images too, who lost the race for a new chat finds the winner: 409', { skip }, async () => {
  await using database = await freshDatabase();
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

test('a message to a chat that is deleted meanwhile begins a new one, which ends and goes on', { skip }, async () => {
  await using database = await freshDatabase();
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

test('copies that the sweep lets go of meanwhile are asked for: 400, and no run', { skip }, async () => {
  await using database = await freshDatabase();
  const between = new Between();
  await using rig = await AttachmentRig.start({
    env: { DATABASE_URL: database.url },
    wrapStore: between.wrapStore,
    limits: { unusedBlobMs: 0, sweepMs: 3_600_000 },
  });
  const { sweepBlobs } = rig.rig.server.server.probes;
  const HOUR_MS = 3_600_000;
  // Its server's clock is slow: it takes a link that everybody else sees has expired.
  rig.files.now = () => Date.now() - HOUR_MS;
  for (const path of ['/a.txt', '/b.txt']) rig.files.serveSigned(path, path);
  const plain = rig.files.serve('/plain.txt', 'Plain.');
  await sweepBlobs();
  const keep = (keepAttachments: boolean) => rig.api.patch('/v2/integrations/demo', { keepAttachments });
  /** The sweep comes between the facts and the writes of a message to this chat. */
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

  // Where another file of the chat has no copy anyway, its links were looked at before the sweep came.
  await keep(true);
  await rig.rig.answer({ chatId: 'some', attachments: [fileAt(plain), fileAt(rig.files.sign('/b.txt'))] });
  await askDatabase(database.url, `update attachments set blob_key = null where url = '${plain}'`);
  const some = await race('some');
  assert.deepEqual([some.admitted, some.body.code], ['false', 'invalid_attachment_refresh'], some.body.error);
  const { body: runs } = await rig.api.get('/v2/integrations/demo/runs');
  assert.equal(runs.items.length, 2, 'nothing was reserved');
});
