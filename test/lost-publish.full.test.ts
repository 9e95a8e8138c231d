import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineAgency, defineAgent } from '@runwire/agency';
import { CommitUnknown, STORES, type Store, type StoreName } from '@runwire/test-kit';
import { messagesFrame, ScriptedServer } from './support/scripted-server.ts';
import { download } from './support/uploads.ts';

const worker = defineAgent({ name: 'Worker', description: 'Works.', instructions: 'Work.', sandbox: true });
const agencies = { work: defineAgency({ name: 'Work', agents: [worker] }) };

for (const store of STORES) describe(store, () => tests(store));

/** The answer to the first commit of file changes is lost: before the commit, or after it. */
function losing(store: Store, isCommitted: boolean): Store {
  let isFirst = true;
  return {
    kind: store.kind,
    reads: store.reads,
    async transact(name, job, locks) {
      if (name !== 'publish' || !isFirst) return store.transact(name, job, locks);
      isFirst = false;
      if (isCommitted) await store.transact(name, job);
      throw new CommitUnknown(new Promise(() => {}));
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

function tests(store: StoreName): void {
  for (const isCommitted of [true, false]) {
    test(`a lost answer to a commit that ${isCommitted ? 'happened' : 'did not happen'} changes nothing`, async () => {
      const env = { RUNWIRE_SANDBOX: 'just-bash' };
      const wrapStore = (inner: Store) => losing(inner, isCommitted);
      await using rig = await ScriptedServer.start({ store, agencies, env, wrapStore });
      const apiIntegrationId = await rig.integration({ agency: 'work' });
      const { call, reader, runId } = await rig.hold({ apiIntegrationId, message: 'Do it' });
      await call.toolCall('call_1', 'write_file', '{"path":"/app/mnt/a.txt","content":"once"}');
      await call.end();
      const next = await rig.controller.nextCall();
      const output = next.request.prompt.at(-1);
      assert.ok(output?.kind === 'tool_output');
      assert.equal(output.output, '/app/mnt/a.txt: created, 4 bytes');
      await next.end();
      await reader.whole();
      assert.equal(await (await download(rig.api, '/app/mnt/a.txt', apiIntegrationId)).text(), 'once');
      assert.equal(messagesFrame(reader).files.length, 1);
      assert.equal(reader.text.split('"name":"file_changed"').length, 2);
      const replay = await rig.api.events(runId, null, apiIntegrationId);
      assert.deepEqual(await replay.whole(), reader.frames);
    });
  }
}
