import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { PostgresServer } from '@runwire/test-kit';
import { messagesFrame, ScriptedServer } from './support/scripted-server.ts';
import { missingService } from './support/services.ts';

const skip = (await missingService('postgres')) ?? false;

test('a read-only database counts as unavailable: runs wait for it', { skip }, async () => {
  await using postgres = await PostgresServer.start();
  const url = await postgres.database();
  const database = new URL(url).pathname.slice(1);
  /** The setting applies to new connections, and all connections are new. */
  const become = async (readOnly: 'on' | 'off') => {
    await postgres.query(`alter database ${database} set default_transaction_read_only = ${readOnly}`);
    await postgres.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`);
  };
  await using rig = await ScriptedServer.start({ env: { DATABASE_URL: url, RUNWIRE_METRICS_PORT: '0' } });
  const nodes = async () => {
    const { items } = (await rig.api.get('/v2/nodes')).body as { items: { nodeId: string; state: string }[] };
    return items.map(({ nodeId, state }) => `${nodeId} ${state}`);
  };
  const { metricsUrl } = rig.server.server;
  const beatAge = async () => {
    const text = await (await fetch(`${metricsUrl}/metrics`)).text();
    return Number(/^runwire_beat_age_seconds (\S+)$/m.exec(text)?.[1]);
  };
  const registered = await nodes();
  const { reader, call } = await rig.hold({});
  const readiness = async () => (await rig.api.as(null).get('/readyz')).status;
  await become('on');
  while ((await readiness()) !== 503) await sleep(50);
  await call.text('Said meanwhile');
  await call.end();
  await reader.untilText('Said meanwhile');
  const refused = await rig.api.complete({ chatId: 'other' });
  await refused.over;
  assert.deepEqual([refused.status, refused.headers['x-agent-run-admitted']], [503, 'false']);
  // Longer than a lease: no node can write, so no node is declared dead.
  while ((await beatAge()) < 9) await sleep(100);
  await become('off');
  await reader.whole();
  const { status, error } = messagesFrame(reader);
  assert.deepEqual([status, error], ['completed', null]);
  while ((await readiness()) !== 200) await sleep(50);
  await rig.answer({ chatId: 'other' });
  assert.deepEqual(await nodes(), registered);
});
