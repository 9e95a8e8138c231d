import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fullTest } from '@runwire/test-kit';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { getFolder, root, run, serve, startRunwire } from './support/cli-process.ts';
import { CommandServer, ended } from './support/command-server.ts';
import { eventually } from './support/eventually.ts';
import { upload } from './support/uploads.ts';

/* The commands for files, members, keys, chats and agencies, and the start of the command itself, as processes. */

const TILL_TOOLS = "export const open_till = { inputSchema: { type: 'object' }, execute: () => 'open' };\n";
const agencies = new AgenciesFolder({
  'till/agency.yaml': 'name: Till\ntoolFiles: [./tools.ts]\nagents: [{ name: Clerk, instructions: You help. }]\n',
  'till/tools.ts': TILL_TOOLS,
});
let commands: CommandServer;
before(async () => {
  commands = await CommandServer.start({ env: { RUNWIRE_AGENCIES_DIR: agencies.path } });
  await commands.server.api.post('/v2/integrations', { apiIntegrationId: 'shop' });
});
after(async () => {
  await commands[Symbol.asyncDispose]();
  agencies[Symbol.dispose]();
});

test('upload, files list, get and delete', async (t) => {
  const folder = getFolder(t);
  const path = join(folder, 'note.md');
  writeFileSync(path, '# A note\n');
  const uploaded = await commands.runwire(['upload', path, '--folder', '/app/mnt/notes']);
  assert.deepEqual(ended(uploaded), [0, '/app/mnt/notes/note.md\n', ''], 'no bar without a terminal');
  const [file] = await commands.json('files', 'list', '/app/mnt/notes');
  assert.deepEqual([file.name, file.contentType, file.size], ['note.md', 'text/markdown', 9]);
  const copy = join(folder, 'copy.md');
  assert.equal((await commands.runwire(['files', 'get', file.path, '--output', copy])).code, 0);
  assert.equal(readFileSync(copy, 'utf8'), '# A note\n');
  assert.equal((await commands.runwire(['files', 'delete', file.path])).code, 0);
  assert.equal((await commands.runwire(['files', 'get', file.path])).code, 4);
  assert.deepEqual(ended(await commands.runwire(['upload', folder])), [
    2,
    '',
    `${folder} is not a file; name files, one after the other.\n`,
  ]);
});

test('in a terminal neither a file nor --json controls it; a pipe gets the bytes', {
  skip: process.platform !== 'linux',
}, async () => {
  const bytes = '\u001b]0;owned\u0007\u009b31mred\u202eé\r\nend\n';
  const path = await upload(commands.server.api, bytes, { folder: '/app/mnt/hostile', filename: 'hostile.txt' });
  await commands.server.api.put('/v2/integrations/demo/members/hostile', { name: '\u009b31mEve\u202e' });
  const get = ['files', 'get', path];
  const list = ['members', 'list', '--search', 'hostile', '--json'];
  const [piped, screen] = await Promise.all([commands.runwire(get), commands.inTerminal(get, list)]);
  assert.equal(piped.stdout, bytes);
  assert.match(screen, /\]0;owned31mredé\r\nend\r\n/);
  assert.ok(screen.includes('"name": "\\u009b31mEve\\u202e"'), JSON.stringify(screen));
  assert.doesNotMatch(screen, /[\u001b\u0007\u009b\u202e]/);
});

/** Runs commands in a terminal, one after the other; returns what it shows. */
test('members, tokens, usage and keys', async () => {
  const allowances = '{"unit":"runs","limit":5,"period":"day"}';
  const [created, member, asAnn, adjusted, table, token, made, listed] = await commands.session(
    ['integrations', 'create', 'metered', '--set', `allowances=${allowances}`],
    ['members', 'set', 'ann', '-i', 'metered', '--name', 'Ann', '--limit', '7', '--json'],
    ['run', '-i', 'metered', '--member', 'ann', '--request', 'ann-1', 'Hello'],
    ['members', 'adjust', 'ann', '1', '-i', 'metered', '--reason', 'Gift', '--key', 'gift-1'],
    ['members', 'list', '-i', 'metered'],
    ['tokens', 'create', 'ann', '-i', 'metered'],
    ['keys', 'create', '--name', 'spare', '--json'],
    ['keys', 'list', '--json'],
  );
  assert.deepEqual([created?.[0], asAnn?.[0]], [0, 0]);
  const { name, ownLimit, allowance } = JSON.parse(member?.[1] ?? '');
  assert.deepEqual([name, ownLimit, allowance.limit], ['Ann', 7, 7]);
  assert.deepEqual(adjusted, [0, '', 'Applied: 1 runs.\n']);
  assert.match(table?.[1] ?? '', /^MEMBER +ACTIVE +USED +LIMIT +UNIT +NAME\nann +yes +0 +7 +runs\/day +Ann\n$/);

  assert.match(token?.[1] ?? '', /^eyJ\S+\n$/);
  const page = { RUNWIRE_API_KEY: token?.[1].trim() ?? '', RUNWIRE_INTEGRATION: '' };
  const asPage = await commands.runwire(['run', '--request', 'ann-2', 'Hello'], undefined, page);
  assert.equal(asPage.code, 0, 'a client token names its integration itself');

  const keys: { name: string; keyId: string }[] = JSON.parse(listed?.[1] ?? '');
  const spare = keys.find((key) => key.name === 'spare');
  const [csv, plot, revoked] = await commands.session(
    ['usage', '-i', 'metered', '--by', 'member', '--csv'],
    ['usage', '-i', 'metered', '--plot'],
    ['keys', 'revoke', spare?.keyId ?? ''],
  );
  assert.match(
    csv?.[1] ?? '',
    /^member,runs,modelCalls,.*,chargedCredits,failed,.*\r\nann,2,2,\d+,0,\d+,0,\d+,2,\d+,0,0,0,,(,\d+){4}\r\n$/,
  );
  assert.match(plot?.[1] ?? '', /^\d{4}-\d\d-\d\d {2}2 {2}█+\n$/);
  assert.equal(revoked?.[0], 0);
  const { apiKey } = JSON.parse(made?.[1] ?? '');
  assert.equal((await commands.server.api.as(apiKey).get('/v2/me')).status, 401);
});

test('chats, messages, steps, records, owners, me and nodes', async () => {
  await commands.server.api.put('/v2/integrations/demo/members/bob', {});
  const asked = await commands.server.api.complete({ apiIntegrationId: 'demo', message: '/tool', chatId: 'told' });
  await asked.whole();
  const runId = String(asked.headers['x-run-id']);
  const { body: owner } = await commands.server.api.post('/v2/owners', { email: 'zoe@example.com' });
  const [created, updated, forked, dropped, list, show, messages, steps, records, csv, gone, ...rest] =
    await commands.session(
      ['chats', 'create', 'plan', '--alias', 'p', '--member', 'bob'],
      ['chats', 'update', 'plan', '--title', 'A plan', '--metadata', '{"a":1}'],
      ['chats', 'fork', 'plan', '--id', 'copy', '--alias', 'q'],
      ['chats', 'delete', 'copy'],
      ['chats', 'list', '--member', 'bob', '--status', 'idle'],
      ['chats', 'show', 'plan', '--json'],
      ['messages', 'told'],
      ['steps', runId],
      ['records', '--json', '--limit', '1000'],
      ['records', '--csv'],
      ['chats', 'delete', 'plan'],
      ['owners', 'create', 'yan@example.com', '--name', 'Yan', '--json'],
      ['owners', 'list', '--json'],
      ['owners', 'delete', owner.ownerId],
      ['me', 'update', '--name', 'Root', '--json'],
      ['me', 'show'],
      ['nodes', 'list'],
      ['nodes', 'metrics'],
      ['members', 'adjustments', 'bob'],
      ['members', 'delete', 'bob', '--erase'],
      ['members', 'erasure', 'bob', '--json'],
      ['people', 'invite', 'bo@example.com', '--role', 'viewer', '--json'],
      ['people', 'list'],
      ['audit', '--operation', 'createPerson'],
    );
  assert.deepEqual(created, [0, 'plan\n', '']);
  assert.deepEqual([forked?.[1], dropped?.[2]], ['copy\n', 'The chat copy is deleted.\n']);
  assert.match(
    updated?.[1] ?? '',
    /^chat: +plan\nalias: +p\ntitle: +A plan\nmember: +bob\n[\s\S]*metadata: +\{"a":1\}\n/,
  );
  assert.match(list?.[1] ?? '', /^CHAT +STATUS +MESSAGES +OPEN .*\nplan +idle +0 +0 .* bob +A plan\n$/);
  assert.equal(JSON.parse(show?.[1] ?? '').aliasChatId, 'p');
  assert.match(messages?.[1] ?? '', /^CREATED .*\n.* Concierge +completed .*\n.* user +completed +\/tool\n$/);
  assert.match(
    steps?.[1] ?? '',
    /^STEP +AGENT .*\n +3 +Concierge +offline\S* +completed .*\n +2 +Concierge +clock +completed/,
  );
  assert.ok(JSON.parse(records?.[1] ?? '').some((record: { runId: string }) => record.runId === runId));
  assert.match(csv?.[1] ?? '', new RegExp(runId));
  assert.deepEqual(gone, [0, '', 'The chat plan is deleted.\n']);
  const [yan, owners, deleted, me, shown, nodes, metrics, adjustments, erased, erasure, bo, people, audit] = rest;
  assert.match(JSON.parse(yan?.[1] ?? '').setupLink, /#set_up=/);
  assert.equal(JSON.parse(owners?.[1] ?? '').length, 3);
  assert.deepEqual(deleted, [0, '', `The owner ${owner.ownerId} is deleted.\n`]);
  assert.equal(JSON.parse(me?.[1] ?? '').name, 'Root');
  assert.match(shown?.[1] ?? '', /^owner: +\S+\nname: +Root\n[\s\S]*administrator: +yes\n$/);
  assert.match(nodes?.[1] ?? '', /^NODE +STATE .*\n\S+ +alive +\d/);
  assert.match(metrics?.[1] ?? '', /^# HELP/m);
  assert.deepEqual(adjustments, [0, '', 'The list is empty.\n']);
  assert.deepEqual(erased, [0, '', 'The erasure is accepted; `runwire members erasure bob` shows its end.\n']);
  assert.match(JSON.parse(erasure?.[1] ?? '').status, /^eras/);
  assert.deepEqual([JSON.parse(bo?.[1] ?? '').role, JSON.parse(bo?.[1] ?? '').state], ['viewer', 'invited']);
  assert.match(people?.[1] ?? '', /^PERSON +E-MAIL +ROLE .*\nper_\S+ +bo@example\.com +viewer +invited/);
  assert.match(audit?.[1] ?? '', /^TIME +ACTOR .*\n\S+ \S+ +\S+ +createPerson +person:per_/);
});

test('bin/runwire runs in any folder, by a link, and names what is missing', async (t) => {
  const folder = getFolder(t);
  const link = join(folder, 'my runwire');
  symlinkSync(join(root, 'bin/runwire'), link);
  writeFileSync(join(folder, 'runwire.env'), 'RUNWIRE_INTEGRATION=shop\n');
  const { RUNWIRE_URL, RUNWIRE_API_KEY } = commands.environment;
  const env = { RUNWIRE_URL, RUNWIRE_API_KEY };
  const { code, stdout, stderr } = await run(link, ['chats', 'create', '--json'], { cwd: folder, env });
  assert.deepEqual([code, stderr, JSON.parse(stdout).apiIntegrationId], [0, '', 'shop']);
  mkdirSync(join(folder, 'clone/packages/cli/bin'), { recursive: true });
  copyFileSync(join(root, 'bin/runwire'), join(folder, 'clone/packages/cli/bin/runwire'));
  const clone = join(realpathSync(folder), 'clone');
  const missing = await run(join(clone, 'packages/cli/bin/runwire'), ['--version']);
  const sentence = `Runwire is not installed in ${clone}; run \`npm ci\` in that folder first.\n`;
  assert.deepEqual(ended(missing), [1, '', sentence]);
});

test('serve --json prints one line of JSON with the address and the new key', async (t) => {
  const env = { PORT: '0', RUNWIRE_DATA_DIR: getFolder(t), RUNWIRE_LOG_LEVEL: 'silent', RUNWIRE_SANDBOX: 'off' };
  const { child, result } = startRunwire(['serve', '--json'], { env });
  const [line] = await once(child.stdout as NodeJS.ReadableStream, 'data');
  const { url, apiKey } = JSON.parse(String(line));
  const started = { RUNWIRE_URL: url, RUNWIRE_API_KEY: apiKey, RUNWIRE_INTEGRATION: '' };
  assert.equal((await commands.runwire(['run', 'Hello'], undefined, started)).code, 0, 'it has one integration');
  child.kill('SIGTERM');
  const { code, stdout } = await result;
  assert.deepEqual([code, stdout], [0, String(line)]);
});

fullTest('agencies list shows a process that cannot start, and the last fault in one line', async () => {
  const till = async () =>
    (await commands.server.api.get('/v2/agencies')).body.items.find(
      ({ agency }: { agency: string }) => agency === 'till',
    );
  agencies.write({ 'till/tools.ts': 'export const open_till = {\n' });
  process.kill((await till()).process.pid, 'SIGKILL');
  await eventually('a failed start', async () => (await till()).process.state === 'failed');
  const [[code, stdout, stderr] = []] = await commands.session(['agencies', 'list']);
  assert.equal(code, 0);
  assert.match(stdout ?? '', /^till .* (failed|starting) /m);
  assert.match(stderr ?? '', /^The process of the agency till is (failed|starting); restarts: 1; last fault: .+\n$/);
  // Otherwise it is started again and again.
  agencies.write({ 'till/tools.ts': TILL_TOOLS });
});

test('a reader that leaves ends a command without an error', async () => {
  const [node, ...args] = serve.slice(0, -1);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the shell
  const script = '"$@" integrations list | true; exit ${PIPESTATUS[0]}';
  const { code, stderr } = await run('bash', ['-c', script, 'bash', node ?? '', ...args], {
    env: commands.environment,
  });
  assert.deepEqual([code, stderr], [0, '']);
});
