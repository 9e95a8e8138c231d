import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { freePort, ScriptedMcpHttp } from '@runwire/test-kit';
import { eventually, until } from './support/eventually.ts';
import { McpRig, mcpAgency, scripted, toolNames } from './support/mcp-agency.ts';

/* MCP servers that are reached by streamable HTTP. */

const withServer = (server: ScriptedMcpHttp, more = '') =>
  McpRig.start(mcpAgency({ one: `url: "${server.url}"${more}` }));

test('server-everything by streamable HTTP', async (t) => {
  const port = await freePort();
  const program = resolve(import.meta.dirname, '../node_modules/@modelcontextprotocol/server-everything/dist/index.js');
  const start = () => {
    const child = spawn(process.execPath, [program, 'streamableHttp'], {
      env: { PORT: String(port) },
      stdio: 'ignore',
    });
    t.after(() => child.kill('SIGKILL'));
    return child;
  };
  const first = start();
  await using rig = await McpRig.start(mcpAgency({ every: `url: "http://127.0.0.1:${port}/mcp"` }));
  await eventually('connected', async () => (await rig.states())[0]?.state === 'connected');
  assert.deepEqual(await rig.run(['every_echo', { message: 'Hello' }]), ['Echo: Hello']);
  const held = await rig.hold();
  const startedAt = performance.now();
  setTimeout(() => first.kill('SIGKILL'), 1000);
  const [lost] = await rig.outputs(held, ['every_trigger-long-running-operation', { duration: 60, steps: 60 }]);
  assert.match(String(lost), /^The tool failed: The MCP server `every` was lost during the call/);
  assert.ok(performance.now() - startedAt < 15_000);
  await once(start(), 'spawn');
  await eventually('connected again', async () => (await rig.states())[0]?.state === 'connected');
  assert.deepEqual(await rig.run(['every_echo', { message: 'again' }]), ['Echo: again']);
});

test('an expired session is renewed, and the refused call is sent once more', async () => {
  await using server = await ScriptedMcpHttp.start();
  await using rig = await withServer(server);
  assert.deepEqual(await rig.run(['one_echo', { text: 'a' }]), ['a']);
  server.expire();
  assert.deepEqual(await rig.run(['one_echo', { text: 'b' }]), ['b']);
  assert.equal(server.script.calls.length, 2);
  await server.stop();
  await server.listen();
  assert.deepEqual(await rig.run(['one_echo', { text: 'c' }]), ['c']);
  assert.equal(server.script.calls.length, 3);
  assert.equal(server.sessions, 1);
});

test('a server that dies under a call is reported soon, and its tools stay known', async () => {
  await using server = await ScriptedMcpHttp.start();
  await using rig = await withServer(server);
  const startedAt = performance.now();
  const [died] = await rig.run(['one_die', {}]);
  assert.match(String(died), /was lost during the call, which may have taken effect/);
  assert.ok(performance.now() - startedAt < 5000);
  const held = await rig.hold();
  assert.ok(toolNames(held).includes('one_echo'));
  const callAt = performance.now();
  const [refused] = await rig.outputs(held, ['one_echo', { text: 'x' }]);
  assert.match(String(refused), /^The tool failed: The MCP server `one` is not connected: /);
  assert.ok(performance.now() - callAt < 7000);
  assert.equal((await rig.states())[0]?.state, 'failed');
  await server.listen();
  assert.deepEqual(await rig.run(['one_echo', { text: 'y' }]), ['y']);
  assert.deepEqual(
    server.script.calls.map(({ tool }) => tool),
    ['die', 'echo'],
  );
});

test('a cancelled run cancels its call, and a changed list is read', async () => {
  await using server = await ScriptedMcpHttp.start();
  await using rig = await withServer(server);
  const held = await rig.hold();
  await held.call.toolCall('call_0', 'one_hang', '{}');
  await held.call.end();
  await until(() => server.script.calls.length === 1);
  await rig.rig.api.post(`/v2/integrations/own/runs/${held.runId}/cancel`, {});
  await held.reader.whole();
  await until(() => server.script.cancelled.length === 1);
  const count = (await rig.states())[0]?.tools;
  await rig.run(['one_change', {}]);
  await eventually('the list was read', async () => (await rig.states())[0]?.tools === Number(count) + 1);
});

test('bearer tokens come from variables, and errors do not repeat them', async () => {
  await using server = await ScriptedMcpHttp.start({ token: 'good-token' });
  const agency = mcpAgency({ one: `url: "${server.url}", headers: { Authorization: "Bearer \${MCP_TOKEN}" }` });
  {
    await using rig = await McpRig.start(agency, { MCP_TOKEN: 'good-token' });
    assert.deepEqual(await rig.run(['one_echo', { text: 'x' }]), ['x']);
  }
  await using rig = await McpRig.start(agency, { MCP_TOKEN: 'wrong-token' });
  const [state] = await eventually('failed', async () => {
    const states = await rig.states();
    return states[0]?.state === 'failed' && states;
  });
  assert.doesNotMatch(String(state?.error), /wrong-token/);
});

test('OAuth client credentials get a token, and a new one if it has expired', async () => {
  await using server = await ScriptedMcpHttp.start({ token: 'none yet', oauth: true });
  await using rig = await withServer(server, ', oauth: { clientId: client, clientSecret: s3cret, scope: tools }');
  assert.deepEqual(await rig.run(['one_echo', { text: 'x' }]), ['x']);
  assert.equal(server.tokensIssued, 1);
  server.token = 'rotated';
  assert.deepEqual(await rig.run(['one_echo', { text: 'y' }]), ['y']);
  assert.equal(server.tokensIssued, 2);
  assert.equal(server.script.calls.length, 2);
});

test('an authorization server of another origin gets no header of the agency', async (t) => {
  const seen: string[] = [];
  const elsewhere = createServer((request, response) => {
    seen.push(JSON.stringify(request.headers));
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
  t.after(() => elsewhere.close());
  const authorizationServer = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
  await using server = await ScriptedMcpHttp.start({ token: 'other', oauth: true, authorizationServer });
  const oauth = 'oauth: { clientId: client, clientSecret: s3cret }';
  await using rig = await withServer(server, `, headers: { X-Key: secret-key }, ${oauth}`);
  await eventually('failed', async () => (await rig.states())[0]?.state === 'failed');
  assert.ok(seen.length > 0);
  assert.deepEqual(
    seen.filter((headers) => headers.includes('secret-key')),
    [],
  );
});

test('after the first token no other authorization server gets the secret', async () => {
  await using elsewhere = await ScriptedMcpHttp.start({ oauth: true });
  await using server = await ScriptedMcpHttp.start({ token: 'none yet', oauth: true });
  await using rig = await withServer(server, ', oauth: { clientId: client, clientSecret: s3cret }');
  assert.deepEqual(await rig.run(['one_echo', { text: 'x' }]), ['x']);
  server.authorizationServer = elsewhere.origin;
  server.token = 'rotated';
  const [refused] = await rig.run(['one_echo', { text: 'y' }]);
  assert.match(String(refused), /^The tool failed: /);
  // A new connection remembers it too.
  await server.stop();
  await server.listen();
  const isRefused = async () => /Authorization server mismatch/.test(String((await rig.states())[0]?.error));
  await eventually('refused', isRefused);
  assert.ok(elsewhere.requests.length > 0);
  assert.equal(elsewhere.tokensIssued, 0);
  assert.ok(!elsewhere.requests.includes('POST /token'));
});

test('redirects to another origin are not followed', async () => {
  await using target = await ScriptedMcpHttp.start();
  await using server = await ScriptedMcpHttp.start({ redirectTo: target.url });
  await using rig = await withServer(server, ', headers: { X-Key: secret-key }');
  await eventually('failed', async () => (await rig.states())[0]?.state === 'failed');
  assert.deepEqual(target.requests, []);
});

test('values of the run in `headers` give each run its own session', async () => {
  await using beside = await ScriptedMcpHttp.start();
  const agency = mcpAgency({ one: `url: "${beside.url}", headers: { X-Who: "{{member.consumerId}}" }` });
  await using perRun = await McpRig.start(agency);
  await perRun.rig.member('own', 'ann');
  const held = await perRun.hold({ consumerId: 'ann' });
  const [about] = await perRun.outputs(held, ['one_about', {}]);
  assert.equal(JSON.parse(String(about)).headers['x-who'], 'ann');
  await until(() => beside.sessions === 0);
});

test('two kinds of servers work in one answer', async () => {
  await using server = await ScriptedMcpHttp.start();
  await using rig = await McpRig.start(mcpAgency({ web: `url: "${server.url}"`, local: scripted() }));
  const calls = [
    ['web_big', { characters: 10_000_000 }],
    ['local_echo', { text: 'x' }],
  ] as const;
  const [big, echo] = await rig.run(...calls);
  assert.match(String(big), /^x{40000}\n/);
  assert.equal(echo, 'x');
});
