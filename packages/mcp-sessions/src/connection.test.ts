import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ScriptedMcpHttp } from '@runwire/test-kit';
import { SCRIPTED_MCP } from '@runwire/test-kit/scripted-mcp-program.ts';
import { Connection, type ConnectionSetting } from './connection.ts';

const getSetting = (mode: ConnectionSetting['mode'], ...args: readonly string[]): ConnectionSetting => ({
  address: { kind: 'stdio', command: process.execPath, args: [SCRIPTED_MCP, ...args], env: {}, cwd: null, secrets: [] },
  client: { name: 'test', version: '1' },
  variable: () => null,
  askForeign: () => assert.fail('no foreign address'),
  mode,
  known: null,
  onTools: () => {},
});

for (const mode of ['legacy', 'auto'] as const) {
  test(`a try to connect to a silent server ends when it is given up, in mode ${mode}`, async () => {
    const stop = new AbortController();
    const startedAt = performance.now();
    setTimeout(() => stop.abort(), 500);
    await assert.rejects(Connection.open(getSetting(mode, '--silent'), stop.signal));
    assert.ok(performance.now() - startedAt < 8000);
  });

  test(`a server with the older protocol is connected in mode ${mode}`, async () => {
    const connection = await Connection.open(getSetting(mode), new AbortController().signal);
    const { content } = await connection.call({ name: 'echo', arguments: { text: 'x' } });
    assert.deepEqual(content, [{ type: 'text', text: 'x' }]);
    await connection.close();
  });
}

test('a list of tools without an end is refused', async () => {
  const endless = Connection.open(getSetting('legacy', '--endless'), new AbortController().signal);
  await assert.rejects(endless, /The list of tools has more than 33554432 characters/);
});

test('a list of tools without an end is refused by HTTP', async () => {
  await using server = await ScriptedMcpHttp.start({ isEndless: true });
  const address = { kind: 'http' as const, url: server.url, headers: {}, oauth: null, secrets: [] };
  const endless = Connection.open({ ...getSetting('legacy'), address }, new AbortController().signal);
  await assert.rejects(endless, /The list of tools has more than 33554432 characters/);
});
