import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PUBLISH_POINTS, STORES, type StoreName } from '@runwire/test-kit';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { KillableServer } from './support/killable-server.ts';
import { messagesFrame } from './support/scripted-server.ts';
import { missingBubblewrap } from './support/services.ts';
import { stagesDeleted, stagesNow } from './support/stages.ts';
import { download, upload } from './support/uploads.ts';

const missing = await missingBubblewrap();
const AGENCY = 'name: Work\nagents:\n  - { name: Worker, description: Works., instructions: Work., sandbox: true }\n';
const MINE = { apiIntegrationId: 'mine', chatId: 'c1' };

for (const store of STORES) describe(store, { skip: missing ?? false }, () => tests(store));

function tests(store: StoreName): void {
  for (const killAt of PUBLISH_POINTS) {
    test(`killed at ${killAt}: all changes of the command are visible, or none`, async () => {
      using folder = new AgenciesFolder({ 'work/agency.yaml': AGENCY });
      const env = { RUNWIRE_AGENCIES_DIR: folder.path, RUNWIRE_SANDBOX: 'bubblewrap' };
      await using server = await KillableServer.start({ store, env, killAt });
      await server.api.post('/v2/integrations', { apiIntegrationId: 'mine', agency: 'work', fileAccess: 'all' });
      for (const filename of ['a', 'b']) await upload(server.api, filename, { apiIntegrationId: 'mine', filename });
      const { call, reader, runId } = await server.hold({ ...MINE, message: 'Do it' });
      const input = { command: 'printf new > a; rm b; printf c > c', folder: '/app/mnt/u' };
      await call.toolCall('call_1', 'run_command', JSON.stringify(input));
      await call.end();
      await reader.over;
      const left = stagesNow();
      assert.ok(!reader.text.includes('file_changed'), 'no reader sees a change before its commit');
      await server.startAgain({ env });
      const next = await server.controller.nextCall();
      const outcome = next.request.prompt.at(-1);
      await next.text('Done');
      await next.end();
      const replay = await server.api.events(runId, null, 'mine');
      await replay.whole();
      const texts = await Promise.all(
        ['a', 'b', 'c'].map(async (name) => {
          const answer = await download(server.api, `/app/mnt/u/${name}`, 'mine');
          return answer.status === 200 ? await answer.text() : answer.status;
        }),
      );
      const isVisible = killAt === 'publish.after-commit';
      assert.deepEqual(texts, isVisible ? ['new', 404, 'c'] : ['a', 'b', 404]);
      assert.ok(outcome?.kind === 'tool_output');
      assert.match(outcome.output, isVisible ? /^Exit code 0\./ : /its outcome is unknown/);
      const { files, status } = messagesFrame(replay);
      assert.equal(status, 'completed');
      assert.equal(files.length, isVisible ? 3 : 0);
      assert.equal(replay.text.split('"name":"file_changed"').length - 1, isVisible ? 3 : 0);
      await stagesDeleted(left);
    });
  }
}
