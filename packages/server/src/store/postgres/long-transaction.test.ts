import assert from 'node:assert/strict';
import { test } from 'node:test';
import { migratedDatabase } from '@runwire/test-kit/test-store.ts';
import { missingService } from '../../../../../test/support/services.ts';
import { beginLongTransaction, closeLongTransaction, toRows } from './long-transaction.ts';
import { plainConfig } from './settings.ts';

const skip = (await missingService('postgres')) ?? false;

test('a failed read of rows reports its own error, not the aborted transaction', { skip }, async () => {
  await using database = await migratedDatabase();
  const client = await beginLongTransaction({ url: database.url, pool: 1, pooled: false }, 'begin');
  await client.query('create view falls as select 1 / (100 - n) as n from generate_series(1, 200) as n');
  let seen = 0;
  await assert.rejects(
    async () => {
      for await (const rows of toRows(client, 'falls', ['n'])) seen += rows.length;
    },
    { name: 'StatementRefused', message: 'division by zero (22012)' },
  );
  assert.equal(seen, 64, 'in the middle');
  await closeLongTransaction(client);
});

test('a session ends if its node is unreachable, unless the operator decides otherwise', { skip }, async () => {
  await using database = await migratedDatabase();
  const url = `${database.url}?options=-c%20tcp_keepalives_count%3D9`;
  const { keepAlive, keepAliveInitialDelayMillis } = plainConfig({ url, pooled: false });
  assert.deepEqual([keepAlive, keepAliveInitialDelayMillis], [true, 15_000], 'probes of the node');
  const client = await beginLongTransaction({ url, pool: 1, pooled: false }, 'begin');
  const wanted = {
    client_connection_check_interval: '10000',
    tcp_keepalives_count: '9',
    tcp_keepalives_idle: '15',
    tcp_keepalives_interval: '5',
    tcp_user_timeout: '45000',
  };
  const names = Object.keys(wanted);
  const { rows } = await client.query('select name, setting from pg_settings where name = any($1)', [names]);
  const settings = Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
  assert.deepEqual(settings, wanted);
  await closeLongTransaction(client);
});

test('rows that were read only in part can be read again', { skip }, async () => {
  await using database = await migratedDatabase();
  const client = await beginLongTransaction({ url: database.url, pool: 1, pooled: false }, 'begin');
  await client.query('create view many as select n from generate_series(1, 200) as n');
  for (let time = 0; time < 2; time += 1) {
    for await (const [row] of toRows(client, 'many', ['n'])) {
      assert.deepEqual(row, [1]);
      break;
    }
  }
  await closeLongTransaction(client);
});
