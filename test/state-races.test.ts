import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ModelCall, Rig, STORES, type StoreName } from '@runwire/test-kit';
import { count, scale } from '@runwire/test-kit/scale.ts';
import { cites } from '../requirements/cite.ts';
import { missingService } from './support/services.ts';

const CHATS = scale(12, 400);
const skip = (await missingService('postgres')) ?? false;

for (const store of STORES) {
  describe(store, () => {
    test('a PATCH of the state and an admission have one order', { skip: store === 'postgres' && skip }, async (t) => {
      cites(t, 'agents-34-busy', 'agents-34-patch');
      await testRaces(store);
    });
  });
}

/** On PostgreSQL two nodes get the two requests. */
async function testRaces(store: StoreName): Promise<void> {
  await using rig = await Rig.scaled({ nodes: store === 'postgres' ? 2 : null, agencyFolders: ['keeping'] });
  await rig.prepare({ apiIntegrationId: 'keeping', agency: 'keeping' });
  const patches = new Map<string, Promise<unknown>>();
  rig.model.onCall = (call) => void answer(call, patches).catch(() => {});
  let [refused, seen] = [0, 0];
  for (let index = 0; index < CHATS; index += 1) {
    const chatId = `chat-${index}`;
    const path = `${rig.path}/chats/${chatId}`;
    assert.equal((await rig.api().post(`${rig.path}/chats`, { chatId })).status, 201);
    const patch = async () => {
      // Neither request is always the first.
      await sleep(index % 4);
      return rig.api(index).patch(`${path}/state`, { patched: true });
    };
    const patched = patch();
    patches.set(chatId, patched);
    const sent = { apiIntegrationId: rig.integration, chatId, message: chatId };
    const reader = await rig.api(index + 1).complete(sent);
    assert.equal(reader.status, 200, reader.text);
    await reader.whole();
    const { status, body } = await patched;
    const { body: state } = await rig.api().get(`${path}/state`);
    if (status === 409) {
      refused += 1;
      assert.deepEqual([body.code, state], ['run_active', { kept: [], last: 'kept' }]);
    } else {
      seen += 1;
      assert.deepEqual(
        [status, body, state],
        [200, { patched: true }, { patched: true, kept: ['patched'], last: 'kept' }],
      );
    }
  }
  if (CHATS > 100) assert.ok(refused > 0 && seen > 0, `refused ${refused}, seen ${seen}`);
  count({ [`${store}_refused`]: refused, [`${store}_seen`]: seen });
}

/** The run's call sees the state after the PATCH is answered, so a PATCH that came too late would be noticed. */
async function answer(call: ModelCall, patches: ReadonlyMap<string, Promise<unknown>>): Promise<void> {
  const { prompt } = call.request;
  const message = prompt.find(({ kind }) => kind === 'user');
  if (prompt.at(-1)?.kind === 'tool_output') await call.text('Done.');
  else {
    await patches.get(message?.kind === 'user' ? message.text : '');
    await call.toolCall('kept', 'keep', JSON.stringify({ id: 'kept', known: ['patched'], pauseMs: 0 }));
  }
  await call.end();
}
