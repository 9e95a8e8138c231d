import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Rig } from '@runwire/test-kit';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { eventually } from './support/eventually.ts';
import { failedServers, mcpAgency, scripted } from './support/mcp-agency.ts';

/** Longer than the server waits before it stores events. */
const STORED_MS = 400;

test('after kill -9 the progress of an open call is void, and a call that may act is not repeated', async () => {
  using folder = new AgenciesFolder({ 'mine/agency.yaml': mcpAgency({ one: scripted(), none: 'command: /nowhere' }) });
  await using rig = await Rig.start({ env: { RUNWIRE_AGENCIES_DIR: folder.path } });
  await rig.prepare({ apiIntegrationId: 'own', agency: 'mine' });
  const isConnected = async () => /^runwire_mcp_connected\{.*\} 1$/m.test((await rig.api().get('/metrics')).body);
  await eventually('connected', isConnected);
  const reader = await rig.api().complete({ apiIntegrationId: 'own', message: 'Hi' });
  const call = await rig.model.nextCall();
  await call.toolCall('call_0', 'one_progress', JSON.stringify({ times: 1000, everyMs: 150 }));
  await call.end();
  await reader.untilText('part 2');
  await sleep(STORED_MS);
  await rig.server().kill();
  await reader.over;
  rig.servers.length = 0;
  await rig.add();
  const next = await rig.model.nextCall();
  const outputs = next.request.prompt.flatMap((item) => (item.kind === 'tool_output' ? [item.output] : []));
  assert.match(outputs.join(), /^The server stopped while this call was under way, and its outcome is unknown/);
  await next.text('Done.');
  await next.end();
  const again = await rig.api().events(String(reader.headers['x-run-id']), null, 'own');
  const frames = await again.whole();
  const resumed = frames.find(({ event }) => event === 'resumed');
  const { discard_after: discardAfter } = JSON.parse(resumed?.data ?? '{}');
  const progress = reader.frames.filter(({ data }) => data.includes('"tool_progress"'));
  assert.ok(progress.length >= 2);
  assert.ok(progress.every(({ id }) => Number(id) > discardAfter));
  assert.equal(frames.filter(({ data }) => data.includes('"tool_progress"')).length, 0);
  assert.equal(again.answer, 'Done.');
  assert.deepEqual(
    failedServers(frames).map(({ server }) => server),
    ['none'],
    'the second attempt does not report it again',
  );
});
