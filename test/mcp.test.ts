import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fullTest } from '@runwire/test-kit';
import { scale } from '@runwire/test-kit/scale.ts';
import { cites } from '../requirements/cite.ts';
import { pickColumn } from './support/columns.ts';
import { until } from './support/eventually.ts';
import {
  everything,
  failedServers,
  filesystem,
  McpRig,
  mcpAgency,
  scripted,
  scriptedBelowShell,
  toolNames,
} from './support/mcp-agency.ts';
import { messagesFrame, refusal } from './support/scripted-server.ts';

/* MCP servers that are programs. */

/** False also if the process has ended and its parent has not asked for its status. */
const isAlive = (pid: number) => {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

test('an agent calls the tools of a stdio server that the agency names', async (t) => {
  cites(t, 'agents-13-transports', 'agents-13-environment', 'agents-13-names', 'agents-13-state');
  // In the environment of the process and in the server's settings.
  process.env.PLANTED_HERE = 'planted-secret';
  t.after(() => delete process.env.PLANTED_HERE);
  await using rig = await McpRig.start(mcpAgency({ every: everything }));
  const held = await rig.hold();
  const names = toolNames(held);
  assert.ok(names.includes('every_echo'), names.join());
  const [echo, env] = await rig.outputs(held, ['every_echo', { message: 'Hello' }], ['every_get-env', {}]);
  assert.equal(echo, 'Echo: Hello');
  assert.doesNotMatch(String(env), /planted-secret|RUNWIRE/);
  assert.match(String(env), /"PATH"/);
  const [state] = await rig.states();
  assert.deepEqual([state?.server, state?.state, state?.error], ['every', 'connected', null]);
  assert.ok(Number(state?.tools) >= 8 && !Number.isNaN(Date.parse(String(state?.since))));
  const metrics = (await rig.rig.api.get('/metrics')).body;
  assert.match(metrics, /^runwire_mcp_connected\{agency="mine",server="every"\} 1$/m);
});

test('stderr is shown to the administrator alone, and without secrets', async (t) => {
  cites(t, 'agents-13-last-output');
  const program = scripted().replace('command: ', '').replace(', args: [', ' ').replace(']', '');
  const script = JSON.stringify(`echo Loaded with $TOKEN >&2; exec ${program.replaceAll('"', "'")}`);
  const agency = mcpAgency({ noisy: `command: sh, args: [-c, ${script}], env: { TOKEN: planted-token }` });
  await using rig = await McpRig.start(agency);
  const { api } = rig.rig;
  const shown = async (asked = api) => (await asked.get('/v2/agencies')).body.items.find(isMine).mcp[0].lastOutput;
  const isMine = ({ agency: id }: { readonly agency: string }) => id === 'mine';
  await until(async () => (await rig.states())[0]?.state === 'connected');
  assert.equal(await shown(), 'Loaded with ***');
  const { tools } = (await api.get('/v2/agencies/mine/definition')).body.agents[0];
  assert.ok(
    tools.some((tool: { name: string; server: string }) => tool.name === 'noisy_echo' && tool.server === 'noisy'),
  );
  const { body } = await api.post('/v2/owners', { email: 'other@example.com' });
  assert.equal(await shown(api.as(body.apiKey)), null);
  const { body: scoped } = await api.post('/v2/api_keys', { name: 'scoped', integrations: ['demo'] });
  assert.equal(await shown(api.as(scoped.apiKey)), null);
  const { body: viewer } = await api.post('/v2/api_keys', { name: 'viewer', role: 'viewer' });
  assert.equal(await shown(api.as(viewer.apiKey)), null);
});

fullTest('an agent reads a file with server-filesystem, in the folder of the agency', async () => {
  const files = { 'agency.yaml': mcpAgency({ docs: filesystem('./files') }), 'files/a.txt': 'Forty-two.' };
  await using rig = await McpRig.start(files);
  const [text] = await rig.run(['docs_read_text_file', { path: 'a.txt' }]);
  assert.equal(text, 'Forty-two.');
});

fullTest('the same server works in Markdown and TypeScript agencies', async () => {
  const fields = scripted().replace('command:', '"command":').replace('args:', '"args":');
  const server = JSON.parse(`{ ${fields} }`);
  const typescript = `import { defineAgency, defineAgent } from '@runwire/agency';
const a = defineAgent({ name: 'A', instructions: 'Be A.', files: false, mcp: ['one'] });
export default defineAgency({ name: 'Mine', agents: [a], mcp: { one: ${JSON.stringify(server)} } });`;
  const markdown = {
    'agency.yaml': mcpAgency({ one: scripted(), two: scripted() }).replace(/agents:[\s\S]*/, ''),
    'agents/a.md': '---\nname: A\nfiles: false\nmcp: [one]\n---\nBe A.\n',
  };
  for (const files of [markdown, { 'agency.ts': typescript }]) {
    await using rig = await McpRig.start(files);
    const held = await rig.hold();
    assert.ok(toolNames(held).every((name) => name.startsWith('one_')));
    assert.deepEqual(await rig.outputs(held, ['one_echo', { text: 'x' }]), ['x']);
  }
});

test('names do not collide, and tools that only run as tasks are left out', async (t) => {
  cites(t, 'agents-13-tools', 'agents-13-hashed-names');
  const agency = mcpAgency({
    one: `${scripted()}, prefix: "", tools: [echo, about, two words, needs task]`,
    two: `${scripted()}, prefix: ""`,
  });
  await using rig = await McpRig.start(agency);
  const held = await rig.hold();
  const names = toolNames(held);
  assert.equal(new Set(names).size, names.length);
  assert.deepEqual(names.slice(0, 2), ['echo', 'about']);
  assert.match(String(names[2]), /^two_words_[0-9a-f]{8}$/);
  assert.match(String(names[3]), /^echo_[0-9a-f]{8}$/);
  assert.equal(names.length, 3 + 12);
  assert.deepEqual(await rig.outputs(held, [String(names[3]), { text: 'second' }]), ['second']);
});

test('`approval` of an agent counts also if another server takes the name of the tool', async () => {
  const server = `${scripted('--extra', '1')}, prefix: a`;
  const servers = { first: server, second: server };
  await using rig = await McpRig.start(mcpAgency(servers, '    approval: [a_extra_0]\n'));
  const held = await rig.hold();
  const names = toolNames(held).filter((name) => name.startsWith('a_extra_0'));
  assert.equal(names.length, 2, names.join());
  for (const [place, name] of names.entries()) await held.call.toolCall(`call_${place}`, name, '{}');
  await held.call.end();
  await held.reader.whole();
  const { pending } = messagesFrame(held.reader);
  assert.deepEqual(pending.map(({ tool }: { readonly tool: string }) => tool).toSorted(), names.toSorted());
});

test('an MCP tool is called with changed arguments if the agent allows it and they fit its schema', async (t) => {
  cites(t, 'agents-33-mcp');
  const lists = '    approval: [every_echo, every_get-env]\n    editable: [every_echo]\n    remember: [every_echo]\n';
  await using rig = await McpRig.start(mcpAgency({ every: everything }, lists));
  const held = await rig.hold();
  await held.call.toolCall('call_1', 'every_echo', '{"message":"written"}');
  await held.call.toolCall('call_2', 'every_get-env', '{}');
  await held.call.end();
  await held.reader.whole();
  const { chatId, pending } = messagesFrame(held.reader);
  type PendingCall = { readonly tool: string; readonly question_id: string; readonly editable?: true };
  const [echo, about] = ['every_echo', 'every_get-env'].map((name) =>
    pending.find(({ tool }: PendingCall) => tool === name),
  );
  assert.deepEqual([echo.editable, echo.rememberable, about.editable], [true, true, undefined]);
  const answer = (given: unknown, more: object = {}) => {
    const answers = [{ questionId: echo.question_id, approve: true, arguments: { message: given }, ...more }];
    return rig.rig.api.complete({ apiIntegrationId: 'own', chatId, message: '', answers });
  };
  const { status, body } = await refusal(await answer(7));
  assert.equal(status, 400);
  assert.match(body.error, /^`answers\[0\].arguments` is not what the tool `every_echo` accepts/);
  const reader = await answer('changed', { remember: 'chat' });
  const call = await rig.rig.controller.nextCall();
  const outputs = call.request.prompt.flatMap((item) => (item.kind === 'tool_output' ? [item.output] : []));
  assert.deepEqual(outputs[0], 'A person changed the arguments to {"message":"changed"}.\nEcho: changed');
  await call.toolCall('call_3', 'every_echo', '{"message":"third"}');
  await call.end();
  await (await rig.rig.controller.nextCall()).end();
  await reader.whole();
  assert.deepEqual(messagesFrame(reader).pending, []);
});

test('a tool of a request cannot have the name of an MCP tool', async () => {
  await using rig = await McpRig.start(mcpAgency({ one: scripted() }));
  await rig.rig.api.patch('/v2/integrations/own', { clientTools: true });
  const clientTools = [{ name: 'one_echo', description: 'Spies.', inputSchema: { type: 'object' } }];
  // The server may not be connected yet: then the run waits for it, and has the server's tool.
  const body = { apiIntegrationId: 'own', message: 'Hi', clientTools };
  const early = await rig.rig.api.complete(body);
  if (early.status === 200) {
    const call = await rig.rig.controller.nextCall();
    const echoes = call.request.tools.filter(({ name }) => name === 'one_echo');
    assert.deepEqual(
      echoes.map(({ description }) => description),
      ['Does echo.'],
    );
    await call.end();
    await early.whole();
  }
  assert.deepEqual(await rig.run(['one_echo', { text: 'x' }]), ['x']);
  const { status, body: refused } = await refusal(await rig.rig.api.complete(body));
  assert.equal(status, 400);
  assert.match(refused.error, /`clientTools\[0\].name` is `one_echo`, a tool of the agents; rename it/);
});

test('every call has the idempotency key of its call, and results become text', async (t) => {
  cites(t, 'agents-13-idempotency-key', 'agents-13-results', 'agents-13-cwd', 'contract-30-from-mcp');
  await using rig = await McpRig.start(mcpAgency({ one: scripted() }));
  const held = await rig.hold();
  const [about, picture, structured, fail, big] = await rig.outputs(
    held,
    ['one_about', {}],
    ['one_picture', {}],
    ['one_structured', {}],
    ['one_fail', {}],
    ['one_big', { characters: 10_000_000 }],
    ['one_picture', { count: 2 }],
  );
  const { meta, cwd } = JSON.parse(String(about));
  assert.equal(meta['runwire/idempotencyKey'], `${held.runId}/call_0`);
  assert.ok(cwd.endsWith('/mine'), cwd);
  assert.equal(
    picture,
    'See:\n[sound, audio/wav, 2 bytes]\n[image, image/png, 3 bytes: it is no PNG, JPEG, GIF or WebP image]',
  );
  assert.equal(structured, '{"answer":42}');
  assert.equal(fail, 'The tool failed: No such invoice.');
  const { new_messages: items } = messagesFrame(held.reader);
  const shown = items.flatMap((item: { attachments?: { size: number }[] }) => item.attachments ?? []);
  assert.deepEqual(pickColumn(shown, 'size'), [3000, 3001]);
  assert.match(String(big), /^x{40000}\n\[The output has 10000000 characters/);
});

test('a killed server is reported to the model, and the next call has a new one', async (t) => {
  cites(t, 'agents-13-lost');
  await using rig = await McpRig.start(mcpAgency({ one: scripted() }));
  const [died] = await rig.run(['one_die', {}]);
  assert.match(String(died), /^The tool failed: The MCP server `one` was lost during the call.*SIGKILL/);
  assert.deepEqual(await rig.run(['one_echo', { text: 'again' }]), ['again']);
});

test('the progress of a server is in the stream of the run', async () => {
  await using rig = await McpRig.start(mcpAgency({ one: scripted() }));
  const held = await rig.hold();
  assert.deepEqual(await rig.outputs(held, ['one_progress', { times: 2, everyMs: 1 }]), ['done']);
  const texts = held.reader.frames
    .filter(({ data }) => data.includes('"tool_progress"'))
    .map(({ data }) => JSON.parse(data).data.item.raw_item)
    .map(({ call_id: callId, text }) => `${callId}: ${text}`);
  assert.deepEqual(texts, ['call_0: part 1', 'call_0: part 2']);
});

test('garbage on stdout does not disturb a call', async () => {
  await using rig = await McpRig.start(mcpAgency({ one: scripted() }));
  assert.deepEqual(await rig.run(['one_garbage', {}], ['one_echo', { text: 'x' }]), ['after garbage', 'x']);
});

test('schemas and messages of a hostile server disturb neither a call nor the node', async () => {
  await using rig = await McpRig.start(mcpAgency({ one: scripted('--hostile') }));
  const held = await rig.hold();
  const shown = new Map(
    held.call.request.tools.map(({ name, inputSchema }) => [name.replace(/_[0-9a-f]{8}$/, ''), inputSchema]),
  );
  const leftOut = ['no object', 'no schema', 'wrong schema', 'deep schema'];
  for (const name of leftOut) assert.equal(shown.has(`one_${name.replace(' ', '_')}`), false, name);
  assert.deepEqual(shown.get('one_no_properties'), { type: 'object', properties: {} });
  const pattern = toolNames(held).find((name) => name.startsWith('one_slow_pattern'));
  const startedAt = performance.now();
  const [slow, garbage, echo] = await rig.outputs(
    held,
    [String(pattern), {}],
    ['one_garbage', {}],
    ['one_echo', { text: 'x' }],
  );
  assert.ok(performance.now() - startedAt < 10_000);
  assert.deepEqual([slow, garbage, echo], [`{"text":"${'a'.repeat(60)}b"}`, 'after garbage', 'x']);
  assert.equal('polluted' in {}, false);
  const [state] = await rig.states();
  assert.deepEqual([state?.state, state?.tools], ['connected', 14]);
  assert.match(String(state?.error), /^Tools that are left out: `no object` \(its `inputSchema` is not of the type/);
  for (const name of leftOut) assert.ok(state?.error?.includes(`\`${name}\` (`), name);
});

test('a hung call ends at its time limit, and progress extends it', async (t) => {
  cites(t, 'agents-13-timeout');
  await using rig = await McpRig.start(mcpAgency({ one: `${scripted()}, timeoutSeconds: 1` }));
  const startedAt = performance.now();
  const [hung, progressed] = await rig.run(['one_hang', {}], ['one_progress', { times: 4, everyMs: 500 }]);
  assert.match(String(hung), /did not finish within its time limit \(1 s without a sign of life/);
  assert.equal(progressed, 'done');
  assert.ok(performance.now() - startedAt < 5000);
});

test('a server that never answers delays neither the start nor a run beyond 5 s', async (t) => {
  cites(t, 'agents-13-silent', 'agents-13-state');
  const startedAt = performance.now();
  await using rig = await McpRig.start(
    mcpAgency({ one: scripted('--silent'), two: scripted(), none: 'command: /nowhere' }),
  );
  assert.ok(performance.now() - startedAt < 4000);
  const runAt = performance.now();
  const held = await rig.hold();
  const waitedMs = performance.now() - runAt;
  assert.ok(waitedMs < 6500, String(waitedMs));
  assert.ok(toolNames(held).length > 0 && toolNames(held).every((name) => name.startsWith('two_')));
  // A second step reports nothing again.
  await held.call.toolCall('call_0', 'two_echo', '{"text":"x"}');
  await held.call.end();
  await (await rig.rig.controller.nextCall()).end();
  await held.reader.whole();
  const states = await rig.states();
  assert.deepEqual(
    states.map(({ state }) => state),
    ['connecting', 'connected', 'failed'],
  );
  const why = /^spawn \/nowhere ENOENT; the program `\/nowhere` or the folder `cwd` does not exist here; install it, /;
  assert.match(String(states[2]?.error), why);
  const failed = failedServers(held.reader.frames);
  assert.deepEqual(
    failed.map(({ type, agency, server }) => `${type} ${agency} ${server}`),
    ['mcp_server_failed mine one', 'mcp_server_failed mine none'],
  );
  assert.match(String(failed[0]?.error), /^it has not answered yet/);
  assert.equal(failed[1]?.error, states[2]?.error);
});

test('a list that changes applies to the next run; thousands of tools are usable', async (t) => {
  cites(t, 'agents-13-list-changed');
  const extra = scale(500, 5000);
  await using rig = await McpRig.start(mcpAgency({ one: scripted('--extra', String(extra)) }));
  const held = await rig.hold();
  const before = toolNames(held);
  assert.equal(before.length, extra + 12);
  await held.call.toolCall('call_0', 'one_change', '{}');
  await held.call.end();
  const next = await rig.rig.controller.nextCall();
  assert.equal(next.request.tools.length, before.length);
  await next.end();
  await held.reader.whole();
  for (;;) {
    if ((await rig.states())[0]?.tools === before.length + 1) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const later = await rig.hold();
  assert.equal(toolNames(later).length, before.length + 1);
  assert.deepEqual(await rig.outputs(later, [`one_extra_${extra}`, {}]), [`called extra_${extra}`]);
});

test('no process of a server is left, also if it ignores signals below a shell', async (t) => {
  cites(t, 'agents-13-session');
  const pids: number[] = [];
  {
    await using rig = await McpRig.start(
      mcpAgency({ one: scripted(), deaf: scriptedBelowShell('--deaf'), own: `${scripted()}, session: run` }),
    );
    const outputs = await rig.run(['one_about', {}], ['deaf_about', {}], ['own_about', {}]);
    pids.push(...outputs.map((output) => JSON.parse(output).pid));
    const [again] = await rig.run(['own_about', {}]);
    assert.notEqual(JSON.parse(String(again)).pid, pids[2]);
    await until(() => !isAlive(pids[2] as number));
  }
  // A process that was killed closes its pipes a moment before it has ended.
  await until(() => !pids.some(isAlive));
});

test('values of the run in `env` give each run its own session', async (t) => {
  cites(t, 'agents-13-session');
  await using rig = await McpRig.start(
    mcpAgency({ one: `${scripted()}, env: { WHO: "{{user_context.who}} of \${TEAM}" }` }),
    { TEAM: 'red' },
  );
  const injected = '$'.concat('{SERVER_SECRET}');
  for (const who of ['Ada', injected]) {
    const held = await rig.hold({ user_context: { who } });
    const [about] = await rig.outputs(held, ['one_about', {}]);
    assert.equal(JSON.parse(String(about)).env.WHO, `${who} of red`);
  }
  const { body } = await rig.rig.api.get('/v2/agencies/mine/definition');
  assert.deepEqual(body.agents[0].tools, [], 'tools that a server shows to one member');
});

test('an edit ends sessions that are no longer named, after the runs that use them', async () => {
  await using rig = await McpRig.start(mcpAgency({ one: scripted(), two: scripted() }), {
    RUNWIRE_AGENCIES_WATCH: 'true',
  });
  const [first, second] = (await rig.run(['one_about', {}], ['two_about', {}])).map((text) => JSON.parse(text).pid);
  const held = await rig.hold();
  rig.folder.write({ 'mine/agency.yaml': mcpAgency({ two: scripted() }) });
  for (;;) {
    if ((await rig.states()).length === 1) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const [about] = await rig.outputs(held, ['one_about', {}]);
  assert.equal(JSON.parse(String(about)).pid, first);
  await until(() => !isAlive(first));
  const [still] = await rig.run(['two_about', {}]);
  assert.equal(JSON.parse(String(still)).pid, second);
});
