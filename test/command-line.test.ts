import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import { startTestServer, TEST_API_KEY, type TestServer } from '@runwire/test-kit';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { folderOf, type ProcessResult, root, run, serve, startRunwire } from './support/cli-process.ts';
import { eventually } from './support/eventually.ts';
import { upload } from './support/uploads.ts';

/* The commands that ask a server, as processes: output, exit codes, input, signals. */

const refund = defineTool({
  name: 'refund',
  description: 'Pays money back.',
  inputSchema: { type: 'object', properties: {} },
  needsApproval: true,
  execute: (_, { approval }) => (approval?.reason ? `paid, ${approval.reason}` : 'paid'),
});
const position = defineTool({
  ...{ name: 'position', description: 'Tells where the user is.', inputSchema: { type: 'object', properties: {} } },
});
const clerk = defineAgent({ name: 'Clerk', description: 'Pays.', instructions: 'Pay.', tools: [refund, position] });

let server: TestServer;
const TILL_TOOLS = "export const open_till = { inputSchema: { type: 'object' }, execute: () => 'open' };\n";
const agencies = new AgenciesFolder({
  'till/agency.yaml': 'name: Till\ntoolFiles: [./tools.ts]\nagents: [{ name: Clerk, instructions: You help. }]\n',
  'till/tools.ts': TILL_TOOLS,
});
before(async () => {
  server = await startTestServer({
    agencies: { shop: defineAgency({ name: 'Shop', agents: [clerk] }) },
    env: { RUNWIRE_AGENCIES_DIR: agencies.path },
  });
  await server.api.post('/v2/integrations', { apiIntegrationId: 'shop', agency: 'shop' });
});
after(async () => {
  await server[Symbol.asyncDispose]();
  agencies[Symbol.dispose]();
});

const environment = () => ({ RUNWIRE_URL: server.url, RUNWIRE_API_KEY: TEST_API_KEY, RUNWIRE_INTEGRATION: 'demo' });

/** Runs a command at the server of this file. */
const runwire = (args: readonly string[], input?: string, env: Readonly<Record<string, string>> = {}) =>
  startRunwire(args, { env: { ...environment(), ...env }, ...(input === undefined ? {} : { input }) }).result;

/** Runs commands one after the other in one process. Resolves to exit code, stdout and stderr of each. */
async function session(...commands: readonly (readonly string[])[]): Promise<[number, string, string][]> {
  const script = join(import.meta.dirname, 'support/command-session.ts');
  const options = { env: environment(), input: JSON.stringify(commands) };
  const { code, stdout, stderr } = await run(process.execPath, ['-C', 'runwire', script], options);
  assert.equal(code, 0, stderr);
  const errors = stderr.split('\0');
  return stdout
    .split('\0')
    .slice(0, -1)
    .map((text, index) => [Number(text.slice(-1)), text.slice(0, -1), errors[index] ?? '']);
}

/** Runs a command that must succeed, and parses its output. */
async function json(...args: readonly string[]) {
  const { code, stdout, stderr } = await runwire([...args, '--json']);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

const ended = ({ code, stdout, stderr }: ProcessResult) => [code, stdout, stderr];

/** Resolves to a run of the chat when it is running, and the chat has this many messages before it. */
const runOf = (chatId: string, { messages = 0 } = {}) =>
  eventually(`${chatId} runs`, async (): Promise<string | null> => {
    const { body } = await server.api.get(`/v2/integrations/demo/chat_status?chatId=${chatId}`);
    return body.run?.status === 'running' && body.numMessages >= messages ? String(body.run.runId) : null;
  });

test('run prints the text to stdout, and tools to stderr', async () => {
  const tool = await runwire(['run', '/tool calculate {"operation":"add","a":1,"b":2}']);
  assert.deepEqual(ended(tool), [
    0,
    'The tool was called. It returned: 3\n',
    '· calculate {"operation":"add","a":1,"b":2}\n  → 3\n',
  ]);
  const quiet = await runwire(['run', '--quiet', '/tool calculate {"operation":"add","a":1,"b":2}']);
  assert.equal(quiet.stderr, '');
});

test('run reads the message from stdin, and --request never runs twice', async () => {
  const args = ['run', '--json', '--chat', 'piped', '--request', 'once'];
  const [first, second] = [await runwire(args, 'From a pipe\n'), await runwire(args, 'From a pipe\n')];
  const result = JSON.parse(first.stdout);
  assert.match(result.text, /You said: From a pipe$/);
  assert.deepEqual([result.chatId, result.status], ['piped', 'completed']);
  assert.equal(JSON.parse(second.stdout).runId, result.runId);
  assert.equal((await json('status', '--request', 'once')).run.runId, result.runId);
  const blank = await runwire(['run', '--request', '', 'Hello']);
  assert.deepEqual(ended(blank), [2, '', '--request is blank; write an id, such as `order-17`.\n']);
  assert.deepEqual(ended(await runwire(['run'], '')), [2, '', 'Standard input is empty; it must have the message.\n']);
});

test('exit codes tell a failed run, a refusal, an open question and an unreachable server apart', async () => {
  const failed = await runwire(['run', '/fail']);
  assert.deepEqual([failed.code, failed.stdout], [1, 'This is the offline model, about to fail.\n']);
  assert.match(failed.stderr, /^The run failed: .*\(model_error\)\n$/);

  const noKey = await runwire(['runs'], undefined, { RUNWIRE_API_KEY: '' });
  assert.deepEqual([noKey.code, /^No API key is set; set RUNWIRE_API_KEY\./.test(noKey.stderr)], [2, true]);

  const open = await runwire(['run', '-i', 'shop', '/tool refund {}']);
  assert.equal(open.code, 3);
  assert.match(open.stderr, /^The run waits: a person must approve refund \{\}\.$/m);

  const refused = await runwire(['run', '--json', '-i', 'nowhere', 'Hello']);
  assert.deepEqual([refused.code, refused.stdout], [4, '']);
  assert.deepEqual(
    [JSON.parse(refused.stderr).code, JSON.parse(refused.stderr).status],
    ['integration_not_found', 404],
  );

  const gone = await runwire(['run', 'Hello'], undefined, { RUNWIRE_URL: 'http://127.0.0.1:9' });
  assert.deepEqual([gone.code, gone.stdout], [5, '']);
  assert.match(gone.stderr, /^http:\/\/127\.0\.0\.1:9 cannot be reached \(.+\); start the server, or set RUNWIRE_URL/);

  const noStorage = createServer((_, answer) => {
    const form = { uploadUrl: 'http://127.0.0.1:9/drops', uploadFields: {}, resource: '/app/mnt/a', expiresAt: '' };
    answer.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(form));
  }).listen(0, '127.0.0.1');
  await once(noStorage, 'listening');
  const RUNWIRE_URL = `http://127.0.0.1:${(noStorage.address() as AddressInfo).port}`;
  const sentAt = Date.now();
  const upload = await runwire(['upload', 'package.json', '--folder', '/app/mnt'], undefined, { RUNWIRE_URL });
  assert.ok(Date.now() - sentAt < 25_000, 'no timer of 30 s keeps the process alive');
  noStorage.close();
  assert.equal(upload.code, 5);
  assert.match(
    upload.stderr,
    /^The storage http:\/\/127\.0\.0\.1:9 cannot be reached \(.+\); check that this machine/m,
  );
});

test('names the integrations if there are several and none is named', async () => {
  const several = await runwire(['runs'], undefined, { RUNWIRE_INTEGRATION: '' });
  assert.equal(several.code, 2);
  assert.match(several.stderr, /^There are several integrations \(.*demo.*\); name one with --integration/);
});

test('Ctrl-C cancels the run of `run` with exit code 130', async () => {
  const { child, result } = startRunwire(['run', '--chat', 'stopped', '/slow 600'], { env: environment() });
  const runId = await runOf('stopped');
  child.kill('SIGINT');
  const { code, stdout, stderr } = await result;
  assert.equal(code, 130, stderr);
  assert.match(stdout, /^This /, 'the text so far');
  assert.match(stderr, /^Cancelling the run; press Ctrl-C again to leave\.$/m);
  assert.equal((await server.api.get(`/v2/integrations/demo/runs/${runId}`)).body.status, 'cancelled');
});

test('a second Ctrl-C leaves while the server does not answer', async () => {
  const silent = createServer((request, answer) => {
    if (request.url === '/v2/me') answer.end('{}');
    else silent.emit('asked');
  }).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const asked = once(silent, 'asked');
  const { child, result } = startRunwire(['run', 'Hello'], { env: { ...environment(), RUNWIRE_URL: url } });
  await asked;
  child.kill('SIGINT');
  await once(child.stderr as NodeJS.ReadableStream, 'data');
  child.kill('SIGINT');
  assert.equal((await result).code, 130);
  silent.closeAllConnections();
  silent.close();
});

test('chat continues one chat, and Ctrl-C cancels one run only', async () => {
  const lines = ['Hello', '/slow 600', 'And now?'].join('\n');
  const { child, result } = startRunwire(['chat', '--chat', 'talk'], { env: environment(), input: `${lines}\n` });
  await runOf('talk', { messages: 2 });
  child.kill('SIGINT');
  const { code, stdout, stderr } = await result;
  assert.equal(code, 0, stderr);
  assert.match(stdout, /You said: Hello\nThis [^\n]*\n.*You said: And now\?\n$/);
  assert.match(stderr, /Cancelling the run/);
  const { body } = await server.api.get('/v2/integrations/demo/chats/talk/messages');
  assert.equal(body.items.length, 6);
});

test('chat --json prints one line for each run, and lines of a pipe approve nothing', async () => {
  const { code, stdout, stderr } = await runwire(['chat', '--json', '-i', 'shop'], 'Hello\n/tool refund {}\n');
  const runs = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(code, 3);
  assert.equal(new Set(runs.map(({ chatId }) => chatId)).size, 1);
  assert.deepEqual([runs.length, runs[1].pending.length], [2, 1]);
  assert.match(
    stderr,
    /^The run waits: a person must approve refund \{\}\.\nAnswer with: runwire answer \S+ -i shop$/m,
  );
  const again = await runwire(['chat', '-i', 'shop', '--chat', runs[0].chatId], 'Hello\n');
  assert.match(again.stderr, /^The chat waits: a person must approve refund \{\}\. The first message declines it\.\n/);
});

test('with --json a refusal of chat and a usage error are one line of JSON', async () => {
  const refused = await runwire(['chat', '--json', '-i', 'nowhere'], 'Hello\n');
  assert.deepEqual([refused.code, JSON.parse(refused.stderr).code], [4, 'integration_not_found']);
  const wrong = await runwire(['runs', '--limit', 'x', '--json']);
  assert.equal(wrong.code, 2);
  assert.match(JSON.parse(wrong.stderr).error, /Write a whole number\.$/);
});

/** `script` of util-linux runs a program in a terminal. */
test('chat and answer in a terminal ask open and new questions, and Ctrl-C leaves', {
  skip: process.platform !== 'linux',
}, async (t) => {
  await (await server.api.complete({ apiIntegrationId: 'shop', chatId: 'open', message: '/tool refund {}' })).whole();
  const toShellLine = (...args: string[]) => [...serve.slice(0, -1), ...args].map((word) => `'${word}'`).join(' ');
  const chat = `${toShellLine('chat', '-i', 'shop', '--chat', 'open')}; echo "chat: $?"; ${toShellLine('answer', '-i', 'shop', 'open')}`;
  const env = { ...process.env, ...environment(), TERM: 'xterm', NO_COLOR: '1' };
  const terminal = spawn('script', ['-qec', chat, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  // A test that fails must not leave a program that waits for input.
  t.after(() => terminal.kill());
  const exited = once(terminal, 'exit');
  let screen = '';
  terminal.stdout.on('data', (text) => {
    screen += text;
  });
  const type = async (keys: string, shown: string) => {
    screen = '';
    terminal.stdin.write(keys);
    await eventually(`${shown} in the terminal`, async () => screen.includes(shown));
  };
  const asked = 'Approve refund {}? [y/N, or a reason to decline] ';
  await eventually('the open question', async () => screen.includes(asked));
  await type('Not today\r', 'Declined by the user: Not today');
  await type('/tool refund {}\r', asked);
  await type('y\r', '  → paid\r\n');
  await type('/tool position {}\r', 'Output of position {}, as JSON or text: ');
  await type('Rome\r', 'It returned: Rome');
  await type('/slow 600\r', 'This ');
  await type('\u0003', 'The run was cancelled.');
  await type('/tool refund {}\r', asked);
  await type('\u0003', 'The questions stay open; the next message in the chat declines them.');
  // The chat leaves with 130, and `answer` asks what it left open.
  await type('\u0003', asked);
  assert.match(screen, /^chat: 130\r$/m);
  await type('y\r', '  → paid\r\n');
  const [code] = await exited;
  assert.equal(code, 0, screen);
});

test('events prints what exists; with --follow it waits for the end; cancel ends the run', async () => {
  const slow = await server.api.complete({ apiIntegrationId: 'demo', message: '/slow 600', chatId: 'followed' });
  const runId = await runOf('followed');
  const now = await runwire(['events', runId]);
  assert.equal(now.code, 0);
  assert.match(now.stdout, /^ {4}1 {2}started {6}Concierge, chat followed\n/);
  assert.doesNotMatch(now.stdout, /ended/);
  const follower = startRunwire(['events', '--follow', '--json', '--after', '1', runId], { env: environment() });
  await once(follower.child.stdout as NodeJS.ReadableStream, 'data');
  const cancelled = await runwire(['cancel', runId]);
  assert.deepEqual(ended(cancelled), [0, '', 'The run is cancelled.\n']);
  const { code, stdout } = await follower.result;
  assert.equal(code, 3);
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.ok(events.every(({ id }) => id > 1));
  assert.deepEqual([events.at(-1).type, events.at(-1).status], ['ended', 'cancelled']);
  assert.equal((await json('runs', '--status', 'cancelled', '--chat', 'followed'))[0].runId, runId);
  await slow.whole();
});

test('upload, files list, get and delete', async (t) => {
  const folder = folderOf(t);
  const path = join(folder, 'note.md');
  writeFileSync(path, '# A note\n');
  const uploaded = await runwire(['upload', path, '--folder', '/app/mnt/notes']);
  assert.deepEqual(ended(uploaded), [0, '/app/mnt/notes/note.md\n', ''], 'no bar without a terminal');
  const [file] = await json('files', 'list', '/app/mnt/notes');
  assert.deepEqual([file.name, file.contentType, file.size], ['note.md', 'text/markdown', 9]);
  const copy = join(folder, 'copy.md');
  assert.equal((await runwire(['files', 'get', file.path, '--output', copy])).code, 0);
  assert.equal(readFileSync(copy, 'utf8'), '# A note\n');
  assert.equal((await runwire(['files', 'delete', file.path])).code, 0);
  assert.equal((await runwire(['files', 'get', file.path])).code, 4);
  assert.deepEqual(ended(await runwire(['upload', folder])), [
    2,
    '',
    `${folder} is not a file; name files, one after the other.\n`,
  ]);
});

test('in a terminal neither a file nor --json controls it; a pipe gets the bytes', {
  skip: process.platform !== 'linux',
}, async () => {
  const bytes = '\u001b]0;owned\u0007\u009b31mred\u202eé\r\nend\n';
  const path = await upload(server.api, bytes, { folder: '/app/mnt/hostile', filename: 'hostile.txt' });
  await server.api.put('/v2/integrations/demo/members/hostile', { name: '\u009b31mEve\u202e' });
  const get = ['files', 'get', path];
  const list = ['members', 'list', '--search', 'hostile', '--json'];
  const [piped, screen] = await Promise.all([runwire(get), inTerminal(get, list)]);
  assert.equal(piped.stdout, bytes);
  assert.match(screen, /\]0;owned31mredé\r\nend\r\n/);
  assert.ok(screen.includes('"name": "\\u009b31mEve\\u202e"'), JSON.stringify(screen));
  assert.doesNotMatch(screen, /[\u001b\u0007\u009b\u202e]/);
});

/** Runs commands in a terminal, one after the other; returns what it shows. */
async function inTerminal(...commands: readonly (readonly string[])[]): Promise<string> {
  const lines = commands.map((args) => [...serve.slice(0, -1), ...args].map((word) => `'${word}'`).join(' '));
  const env = { ...process.env, ...environment(), TERM: 'xterm', NO_COLOR: '1' };
  const terminal = spawn('script', ['-qec', lines.join(' && '), '/dev/null'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return text(terminal.stdout);
}

test('members, tokens, usage and keys', async () => {
  const allowances = '{"unit":"runs","limit":5,"period":"day"}';
  const [created, member, asAnn, adjusted, table, token, made, listed] = await session(
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
  const asPage = await runwire(['run', '--request', 'ann-2', 'Hello'], undefined, page);
  assert.equal(asPage.code, 0, 'a client token names its integration itself');

  const keys: { name: string; keyId: string }[] = JSON.parse(listed?.[1] ?? '');
  const spare = keys.find((key) => key.name === 'spare');
  const [csv, plot, revoked] = await session(
    ['usage', '-i', 'metered', '--by', 'member', '--csv'],
    ['usage', '-i', 'metered', '--plot'],
    ['keys', 'revoke', spare?.keyId ?? ''],
  );
  assert.match(csv?.[1] ?? '', /^member,runs,modelCalls,.*,chargedCredits\r\nann,2,2,\d+,0,\d+,0,\d+,2,\d+,0\r\n$/);
  assert.match(plot?.[1] ?? '', /^\d{4}-\d\d-\d\d {2}2 {2}█+\n$/);
  assert.equal(revoked?.[0], 0);
  const { apiKey } = JSON.parse(made?.[1] ?? '');
  assert.equal((await server.api.as(apiKey).get('/v2/me')).status, 401);
});

test('chats, messages, steps, records, owners, me and nodes', async () => {
  await server.api.put('/v2/integrations/demo/members/bob', {});
  const asked = await server.api.complete({ apiIntegrationId: 'demo', message: '/tool', chatId: 'told' });
  await asked.whole();
  const runId = String(asked.headers['x-run-id']);
  const { body: owner } = await server.api.post('/v2/owners', { email: 'zoe@example.com' });
  const [created, updated, list, show, messages, steps, records, csv, gone, ...rest] = await session(
    ['chats', 'create', 'plan', '--alias', 'p', '--member', 'bob'],
    ['chats', 'update', 'plan', '--title', 'A plan', '--metadata', '{"a":1}'],
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
  );
  assert.deepEqual(created, [0, 'plan\n', '']);
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
  const [yan, owners, deleted, me, shown, nodes, metrics, adjustments, erased, erasure] = rest;
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
});

test('answer shows and answers open questions; refusals speak of options', async () => {
  const ask = async (chatId: string, message: string) => {
    await (await server.api.complete({ apiIntegrationId: 'shop', chatId, message, consumerId: 'ann' })).whole();
  };
  await server.api.put('/v2/integrations/shop/members/ann', {});
  await ask('q1', '/tool refund {}');
  await ask('q2', '/tool refund {}');
  await ask('q3', '/tool position {}');
  const answer = (...args: string[]) => ['answer', '-i', 'shop', '--quiet', ...args];
  const [shown, json, unknown, wrong, approved, none, declined, output, ...refusals] = await session(
    answer('q1'),
    answer('q1', '--json'),
    answer('q1', '--approve', 'pay'),
    answer('q3', '--approve', 'position'),
    answer('q1', '--approve', 'all', '--reason', 'fair'),
    answer('q1', '--approve', 'all'),
    answer('q2', '--decline', 'refund', '--reason', 'Too late.'),
    answer('q3', '--output', 'position={"city":"Rome"}'),
    ['tokens', 'create', 'ann', '-i', 'shop', '--expires', '5'],
    ['chats', 'show', 'nowhere'],
    ['keys', 'revoke', 'key_1'],
    ['integrations', 'update', 'shop', '--set', 'maxRunSeconds=-1'],
    ['run', '--member', 'eve', 'Hello'],
  );
  assert.equal(shown?.[0], 3);
  assert.match(shown?.[1] ?? '', /^QUESTION +KIND +AGENT +CALL\nqst_\w+ +approval +Clerk +refund \{\}\n$/);
  assert.deepEqual([json?.[0], JSON.parse(json?.[1] ?? '')[0].tool], [3, 'refund']);
  assert.equal(unknown?.[0], 2);
  assert.match(unknown?.[2] ?? '', /^No open question is `pay`; the open questions are refund \(qst_\w+\)\.\n$/);
  assert.match(wrong?.[2] ?? '', /^The question position \(qst_\w+\) needs an output; use --output\.\n$/);
  assert.deepEqual(approved, [0, 'The tool was called. It returned: paid, fair\n', '']);
  assert.deepEqual(none, [1, '', 'No question is open in the chat q1.\n']);
  assert.match(declined?.[1] ?? '', /Declined by the user: Too late\./);
  assert.match(output?.[1] ?? '', /Rome/);
  assert.deepEqual(
    refusals.map(([code, , text]) => [code, text.replace(/ \(\w+, req_\w+\)\n$/, '')]),
    [
      [4, '--expires must be >= 30.'],
      [4, 'This integration has no such chat; `runwire chats list` lists the chats.'],
      [4, 'You have no API key with this id; `runwire keys list` lists your keys.'],
      [4, '--set maxRunSeconds must be >= 1.'],
      [4, 'This member id is not a member of the integration; `runwire members list` lists the members.'],
    ],
  );
});

test('bin/runwire runs in any folder, by a link, and names what is missing', async (t) => {
  const folder = folderOf(t);
  const link = join(folder, 'my runwire');
  symlinkSync(join(root, 'bin/runwire'), link);
  writeFileSync(join(folder, 'runwire.env'), 'RUNWIRE_INTEGRATION=shop\n');
  const { RUNWIRE_URL, RUNWIRE_API_KEY } = environment();
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
  const env = { PORT: '0', RUNWIRE_DATA_DIR: folderOf(t), RUNWIRE_LOG_LEVEL: 'silent', RUNWIRE_SANDBOX: 'off' };
  const { child, result } = startRunwire(['serve', '--json'], { env });
  const [line] = await once(child.stdout as NodeJS.ReadableStream, 'data');
  const { url, apiKey } = JSON.parse(String(line));
  const started = { RUNWIRE_URL: url, RUNWIRE_API_KEY: apiKey, RUNWIRE_INTEGRATION: '' };
  assert.equal((await runwire(['run', 'Hello'], undefined, started)).code, 0, 'it has one integration');
  child.kill('SIGTERM');
  const { code, stdout } = await result;
  assert.deepEqual([code, stdout], [0, String(line)]);
});

test('agencies list shows a process that cannot start, and the last fault in one line', async () => {
  const till = async () =>
    (await server.api.get('/v2/agencies')).body.items.find(({ agency }: { agency: string }) => agency === 'till');
  agencies.write({ 'till/tools.ts': 'export const open_till = {\n' });
  process.kill((await till()).process.pid, 'SIGKILL');
  await eventually('a failed start', async () => (await till()).process.state === 'failed');
  const [[code, stdout, stderr] = []] = await session(['agencies', 'list']);
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
  const { code, stderr } = await run('bash', ['-c', script, 'bash', node ?? '', ...args], { env: environment() });
  assert.deepEqual([code, stderr], [0, '']);
});
