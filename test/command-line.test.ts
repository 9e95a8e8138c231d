import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import { serve, startRunwire } from './support/cli-process.ts';
import { CommandServer, ended } from './support/command-server.ts';
import { eventually } from './support/eventually.ts';

/* The commands that run agents, as processes: output, exit codes, input, signals, questions. */

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

let commands: CommandServer;
before(async () => {
  commands = await CommandServer.start({ agencies: { shop: defineAgency({ name: 'Shop', agents: [clerk] }) } });
  await commands.server.api.post('/v2/integrations', { apiIntegrationId: 'shop', agency: 'shop' });
});
after(() => commands[Symbol.asyncDispose]());

/** Resolves to a run of the chat when it is running, and the chat has this many messages before it. */
const getRun = (chatId: string, { messages = 0 } = {}) =>
  eventually(`${chatId} runs`, async (): Promise<string | null> => {
    const { body } = await commands.server.api.get(`/v2/integrations/demo/chat_status?chatId=${chatId}`);
    return body.run?.status === 'running' && body.numMessages >= messages ? String(body.run.runId) : null;
  });

test('run prints the text to stdout, and tools to stderr', async () => {
  const tool = await commands.runwire(['run', '/tool calculate {"operation":"add","a":1,"b":2}']);
  assert.deepEqual(ended(tool), [
    0,
    'The tool was called. It returned: 3\n',
    '· calculate {"operation":"add","a":1,"b":2}\n  → 3\n',
  ]);
  const quiet = await commands.runwire(['run', '--quiet', '/tool calculate {"operation":"add","a":1,"b":2}']);
  assert.equal(quiet.stderr, '');
});

test('run reads the message from stdin, and --request never runs twice', async () => {
  const args = ['run', '--json', '--chat', 'piped', '--request', 'once'];
  const [first, second] = [
    await commands.runwire(args, 'From a pipe\n'),
    await commands.runwire(args, 'From a pipe\n'),
  ];
  const result = JSON.parse(first.stdout);
  assert.match(result.text, /You said: From a pipe$/);
  assert.deepEqual([result.chatId, result.status], ['piped', 'completed']);
  assert.equal(JSON.parse(second.stdout).runId, result.runId);
  assert.equal((await commands.json('status', '--request', 'once')).run.runId, result.runId);
  const blank = await commands.runwire(['run', '--request', '', 'Hello']);
  assert.deepEqual(ended(blank), [2, '', '--request is blank; write an id, such as `order-17`.\n']);
  assert.deepEqual(ended(await commands.runwire(['run'], '')), [
    2,
    '',
    'Standard input is empty; it must have the message.\n',
  ]);
});

test('exit codes tell a failed run, a refusal, an open question and an unreachable server apart', async () => {
  const failed = await commands.runwire(['run', '/fail']);
  assert.deepEqual([failed.code, failed.stdout], [1, 'This is the offline model, about to fail.\n']);
  assert.match(failed.stderr, /^The run failed: .*\(model_error\)\n$/);

  const noKey = await commands.runwire(['runs'], undefined, { RUNWIRE_API_KEY: '' });
  assert.deepEqual([noKey.code, /^No API key is set; set RUNWIRE_API_KEY\./.test(noKey.stderr)], [2, true]);

  const open = await commands.runwire(['run', '-i', 'shop', '/tool refund {}']);
  assert.equal(open.code, 3);
  assert.match(open.stderr, /^The run waits: a person must approve refund \{\}\.$/m);

  const refused = await commands.runwire(['run', '--json', '-i', 'nowhere', 'Hello']);
  assert.deepEqual([refused.code, refused.stdout], [4, '']);
  assert.deepEqual(
    [JSON.parse(refused.stderr).code, JSON.parse(refused.stderr).status],
    ['integration_not_found', 404],
  );

  const gone = await commands.runwire(['run', 'Hello'], undefined, { RUNWIRE_URL: 'http://127.0.0.1:9' });
  assert.deepEqual([gone.code, gone.stdout], [5, '']);
  assert.match(gone.stderr, /^http:\/\/127\.0\.0\.1:9 cannot be reached \(.+\); start the server, or set RUNWIRE_URL/);

  const noStorage = createServer((_, answer) => {
    const form = { uploadUrl: 'http://127.0.0.1:9/drops', uploadFields: {}, resource: '/app/mnt/a', expiresAt: '' };
    answer.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(form));
  }).listen(0, '127.0.0.1');
  await once(noStorage, 'listening');
  const RUNWIRE_URL = `http://127.0.0.1:${(noStorage.address() as AddressInfo).port}`;
  const sentAt = Date.now();
  const upload = await commands.runwire(['upload', 'package.json', '--folder', '/app/mnt'], undefined, { RUNWIRE_URL });
  assert.ok(Date.now() - sentAt < 25_000, 'no timer of 30 s keeps the process alive');
  noStorage.close();
  assert.equal(upload.code, 5);
  assert.match(
    upload.stderr,
    /^The storage http:\/\/127\.0\.0\.1:9 cannot be reached \(.+\); check that this machine/m,
  );
});

test('names the integrations if there are several and none is named', async () => {
  const several = await commands.runwire(['runs'], undefined, { RUNWIRE_INTEGRATION: '' });
  assert.equal(several.code, 2);
  assert.match(several.stderr, /^There are several integrations \(.*demo.*\); name one with --integration/);
});

test('Ctrl-C cancels the run of `run` with exit code 130', async () => {
  const { child, result } = startRunwire(['run', '--chat', 'stopped', '/slow 600'], { env: commands.environment });
  const runId = await getRun('stopped');
  child.kill('SIGINT');
  const { code, stdout, stderr } = await result;
  assert.equal(code, 130, stderr);
  assert.match(stdout, /^This /, 'the text so far');
  assert.match(stderr, /^Cancelling the run; press Ctrl-C again to leave\.$/m);
  assert.equal((await commands.server.api.get(`/v2/integrations/demo/runs/${runId}`)).body.status, 'cancelled');
});

test('a second Ctrl-C leaves while the server does not answer', async () => {
  const silent = createServer((request, answer) => {
    if (request.url === '/v2/me') answer.end('{}');
    else silent.emit('asked');
  }).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const asked = once(silent, 'asked');
  const { child, result } = startRunwire(['run', 'Hello'], { env: { ...commands.environment, RUNWIRE_URL: url } });
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
  const { child, result } = startRunwire(['chat', '--chat', 'talk'], {
    env: commands.environment,
    input: `${lines}\n`,
  });
  await getRun('talk', { messages: 2 });
  child.kill('SIGINT');
  const { code, stdout, stderr } = await result;
  assert.equal(code, 0, stderr);
  assert.match(stdout, /You said: Hello\nThis [^\n]*\n.*You said: And now\?\n$/);
  assert.match(stderr, /Cancelling the run/);
  const { body } = await commands.server.api.get('/v2/integrations/demo/chats/talk/messages');
  assert.equal(body.items.length, 6);
});

test('chat --json prints one line for each run, and lines of a pipe approve nothing', async () => {
  const { code, stdout, stderr } = await commands.runwire(['chat', '--json', '-i', 'shop'], 'Hello\n/tool refund {}\n');
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
  const again = await commands.runwire(['chat', '-i', 'shop', '--chat', runs[0].chatId], 'Hello\n');
  assert.match(again.stderr, /^The chat waits: a person must approve refund \{\}\. The first message declines it\.\n/);
});

test('with --json a refusal of chat and a usage error are one line of JSON', async () => {
  const refused = await commands.runwire(['chat', '--json', '-i', 'nowhere'], 'Hello\n');
  assert.deepEqual([refused.code, JSON.parse(refused.stderr).code], [4, 'integration_not_found']);
  const wrong = await commands.runwire(['runs', '--limit', 'x', '--json']);
  assert.equal(wrong.code, 2);
  assert.match(JSON.parse(wrong.stderr).error, /Write a whole number\.$/);
});

/** `script` of util-linux runs a program in a terminal. */
test('chat and answer in a terminal ask open and new questions, and Ctrl-C leaves', {
  skip: process.platform !== 'linux',
}, async (t) => {
  await (
    await commands.server.api.complete({ apiIntegrationId: 'shop', chatId: 'open', message: '/tool refund {}' })
  ).whole();
  const toShellLine = (...args: string[]) => [...serve.slice(0, -1), ...args].map((word) => `'${word}'`).join(' ');
  const chat = `${toShellLine('chat', '-i', 'shop', '--chat', 'open')}; echo "chat: $?"; ${toShellLine('answer', '-i', 'shop', 'open')}`;
  const env = { ...process.env, ...commands.environment, TERM: 'xterm', NO_COLOR: '1' };
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
  const slow = await commands.server.api.complete({
    apiIntegrationId: 'demo',
    message: '/slow 600',
    chatId: 'followed',
  });
  const runId = await getRun('followed');
  const now = await commands.runwire(['events', runId]);
  assert.equal(now.code, 0);
  assert.match(now.stdout, /^ {4}1 {2}started {6}Concierge, chat followed\n/);
  assert.doesNotMatch(now.stdout, /ended/);
  const follower = startRunwire(['events', '--follow', '--json', '--after', '1', runId], { env: commands.environment });
  await once(follower.child.stdout as NodeJS.ReadableStream, 'data');
  const cancelled = await commands.runwire(['cancel', runId]);
  assert.deepEqual(ended(cancelled), [0, '', 'The run is cancelled.\n']);
  const { code, stdout } = await follower.result;
  assert.equal(code, 3);
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.ok(events.every(({ id }) => id > 1));
  assert.deepEqual([events.at(-1).type, events.at(-1).status], ['ended', 'cancelled']);
  assert.equal((await commands.json('runs', '--status', 'cancelled', '--chat', 'followed'))[0].runId, runId);
  await slow.whole();
});

test('answer shows and answers open questions; refusals speak of options', async () => {
  const ask = async (chatId: string, message: string) => {
    await (
      await commands.server.api.complete({ apiIntegrationId: 'shop', chatId, message, consumerId: 'ann' })
    ).whole();
  };
  await commands.server.api.put('/v2/integrations/shop/members/ann', {});
  await ask('q1', '/tool refund {}');
  await ask('q2', '/tool refund {}');
  await ask('q3', '/tool position {}');
  await ask('q4', '/tool refund {}');
  const answer = (...args: string[]) => ['answer', '-i', 'shop', '--quiet', ...args];
  const [listed, continued, decided, shown, json, unknown, wrong, approved, none, declined, output, ...refusals] =
    await commands.session(
      ['questions', 'list'],
      ['questions', 'answer', 'q4', '-i', 'shop', '--approve', 'all', '--json'],
      ['questions', 'list', '--state', 'answered', '--json'],
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
  assert.match(listed?.[1] ?? '', /^ASKED +INTEGRATION +CHAT .*\n\S+ \S+ +shop +q4 +ann +open .*refund \{\}\n/);
  const continuing = JSON.parse(continued?.[1] ?? '');
  const [item] = JSON.parse(decided?.[1] ?? '');
  assert.deepEqual([continuing.chatId, item.chatId, item.decision], ['q4', 'q4', 'approved']);
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
