import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshDatabase, imageAttachment, pngOf, type Store, type Tx } from '@runwire/server/testing';
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
