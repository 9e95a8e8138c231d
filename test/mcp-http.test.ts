import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { resolve } from 'node:path';
import { test } from 'node:test';
import type { Network } from '@runwire/guarded-fetch';
import { freePort, fullTest, ScriptedMcpHttp } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { eventually, until } from './support/eventually.ts';
import { McpRig, mcpAgency, scripted, toolNames } from './support/mcp-agency.ts';

/* MCP servers that are reached by streamable HTTP. */

const withServer = (server: ScriptedMcpHttp, more = '') =>
  McpRig.start(mcpAgency({ one: `url: "${server.url}"${more}` }));

fullTest('server-everything by streamable HTTP', async (t) => {
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

test('a server that dies under a call is reported soon, and its tools stay known', async (t) => {
  cites(t, 'agents-13-known-tools');
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

/** Names that lead to local servers, as if these were on the public internet and had certificates. */
const localNetwork = (servers: Readonly<Record<string, ScriptedMcpHttp>>) => {
  const dialled: string[] = [];
  const network: Network = {
    resolve: async (hostname) => (servers[hostname] === undefined ? [] : ['93.184.216.34']),
    dial: async ({ address, port, servername }) => {
      dialled.push(`${address}:${port}`);
      const socket = connect(Number(new URL(servers[servername]?.origin ?? '').port), '127.0.0.1');
      await once(socket, 'connect');
      return socket;
    },
  };
  return { network, dialled };
};

const OAUTH = 'clientId: client, clientSecret: s3cret';
const stateError = async (rig: McpRig) => String((await rig.states())[0]?.error);

test('an authorization server of another origin is reached by https through the guard only', async () => {
  await using inside = await ScriptedMcpHttp.start({ oauth: true });
  await using login = await ScriptedMcpHttp.start({ oauth: true, publicOrigin: 'https://login.test' });
  await using server = await ScriptedMcpHttp.start({ token: 'none yet', oauth: true });
  const { network, dialled } = localNetwork({ 'login.test': login });
  server.authorizationServer = inside.origin;
  const agency = mcpAgency({ one: `url: "${server.url}", headers: { X-Key: secret-key }, oauth: { ${OAUTH} }` });
  await using rig = await McpRig.start(agency, {}, {}, { network });
  const refusals = {
    [inside.origin]: 'must be an https URL such as',
    'https://127.0.0.1': 'has an address as its host that is not on the public internet;',
    'https://unknown.test': 'host name does not exist;',
  };
  for (const [origin, reason] of Object.entries(refusals)) {
    server.authorizationServer = origin;
    const sentence = `An address of the authorization server at ${origin} could not be fetched: it`;
    await eventually(`${origin} is refused`, async () => {
      const error = await stateError(rig);
      return error.startsWith(sentence) && error.includes(reason);
    });
  }
  assert.deepEqual([inside.requests, dialled], [[], []]);

  server.authorizationServer = 'https://login.test';
  // The token that it will issue.
  server.token = 'token-1';
  await eventually('connected', async () => (await rig.states())[0]?.state === 'connected');
  assert.deepEqual(await rig.run(['one_echo', { text: 'x' }]), ['x']);
  assert.deepEqual([login.tokensIssued, new Set(dialled)], [1, new Set(['93.184.216.34:443'])]);
  assert.ok(!login.headers.some((headers) => headers.includes('secret-key')), 'no header of the agency');
});

for (const pin of ['the first token', '`issuer`']) {
  test(`after ${pin} no other authorization server gets the secret`, async () => {
    await using evil = await ScriptedMcpHttp.start({ oauth: true, publicOrigin: 'https://evil.test' });
    await using server = await ScriptedMcpHttp.start({ token: 'none yet', oauth: true });
    const { network } = localNetwork({ 'evil.test': evil });
    const issuer = pin === '`issuer`' ? `, issuer: "${server.origin}"` : '';
    if (pin === '`issuer`') server.authorizationServer = 'https://evil.test';
    const agency = mcpAgency({ one: `url: "${server.url}", oauth: { ${OAUTH}${issuer} }` });
    await using rig = await McpRig.start(agency, {}, {}, { network });
    if (issuer === '') {
      assert.deepEqual(await rig.run(['one_echo', { text: 'x' }]), ['x']);
      server.authorizationServer = 'https://evil.test';
      server.token = 'rotated';
      const [refused] = await rig.run(['one_echo', { text: 'y' }]);
      assert.match(String(refused), /^The tool failed: /);
      // A new connection remembers it too.
      await server.stop();
      await server.listen();
    }
    await eventually('refused', async () => /Authorization server mismatch/.test(await stateError(rig)));
    assert.ok(evil.requests.length > 0);
    assert.equal(evil.tokensIssued, 0);
    assert.ok(!evil.requests.includes('POST /token'));
  });
}

test('redirects to another origin are not followed', async (t) => {
  cites(t, 'agents-13-redirects');
  await using target = await ScriptedMcpHttp.start();
  await using server = await ScriptedMcpHttp.start({ redirectTo: target.url });
  await using rig = await withServer(server, ', headers: { X-Key: secret-key }');
  await eventually('failed', async () => (await rig.states())[0]?.state === 'failed');
  assert.deepEqual(target.requests, []);
});

test('values of the run in `headers` give each run its own session', async (t) => {
  cites(t, 'agents-13-session');
  await using beside = await ScriptedMcpHttp.start();
  const agency = mcpAgency({ one: `url: "${beside.url}", headers: { X-Who: "{{member.consumerId}}" }` });
  await using perRun = await McpRig.start(agency);
  await perRun.rig.member('own', 'ann');
  const held = await perRun.hold({ consumerId: 'ann' });
  const [about] = await perRun.outputs(held, ['one_about', {}]);
  assert.equal(JSON.parse(String(about)).headers['x-who'], 'ann');
  await until(() => beside.sessions === 0);
});

test('two kinds of servers work in one answer', async (t) => {
  cites(t, 'agents-13-transports');
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
