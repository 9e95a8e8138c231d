import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import * as clientModule from '@runwire/client';
import { QuestionsPendingError, Run, Runwire, UploadError } from '@runwire/client';
import { errors } from '@runwire/contract';
import { operations } from '@runwire/contract/schemas';
import { startTestServer, TEST_API_KEY, type TestServer } from '@runwire/test-kit';
import { build } from 'esbuild';
import { errorOfAnswer } from '../packages/client/src/errors.ts';
import { disturbedClient } from './support/disturbed-fetch.ts';
import { readPage } from './support/doc-samples.ts';
import { shop } from './support/shop-agency.ts';

/* The API, the errors and the questions of the TypeScript client, against the real server with the offline model. */

let server: TestServer;
let client: Runwire;
before(async () => {
  server = await startTestServer({ agencies: { shop } });
  client = new Runwire({ baseUrl: server.url, apiKey: TEST_API_KEY, integration: 'demo' });
  await client.integrations.create({ apiIntegrationId: 'shop', agency: 'shop', clientTools: true });
});
after(() => server[Symbol.asyncDispose]());

test('has a method for every operation that needs a key', async () => {
  const { client: all, requests } = disturbedClient(server.url, { integration: 'api' }, ({ send }) => send());
  await all.integrations.create({
    ...{ apiIntegrationId: 'api', agency: 'demo', allowances: { unit: 'runs', limit: 10, period: 'day' } },
  });
  assert.equal((await all.integrations.update({ name: 'Api' })).name, (await all.integrations.get()).name);
  await all.members.put({ consumerId: 'a/b', name: 'Ann' });
  assert.equal((await all.members.get({ consumerId: 'a/b' })).name, 'Ann');
  const token = await all.tokens.create({ consumerId: 'a/b' });
  assert.equal(token.apiIntegrationId, 'api');
  const run = all.run({ message: 'Hi', consumerId: 'a/b', chatId: 'c1' });
  const { runId } = await run.result();
  await all.attach({ ...run.handle, runId: null }).text();
  assert.equal((await run.cancel()).status, 'completed');
  assert.equal((await all.runs.cancel({ runId })).status, 'completed');
  assert.equal((await all.runs.get({ runId })).message, await run.text());
  assert.equal((await all.runs.prompt({ runId, step: 1 })).exact, true);
  await assert.rejects(all.runs.attachment({ runId, attachmentId: 'none' }), { code: 'attachment_not_found' });
  await all.chats.create({ chatId: 'c2' });
  await all.chats.update({ chatId: 'c2', title: 'Two' });
  const fork = await all.chats.fork({ fromChatId: 'c1', runId, chatId: 'c3' });
  assert.deepEqual([fork.chatId, fork.forkedFrom], ['c3', { chatId: 'c1', runId }]);
  const noAnswer = { questionId: 'qst_1', approve: true };
  const notOpen = all.questions.answer({ chatId: 'c3', answers: [noAnswer] });
  await assert.rejects(notOpen, { code: 'question_not_pending' });
  await all.chats.delete({ chatId: 'c3' });
  assert.equal((await all.chats.get({ chatId: 'c2' })).title, 'Two');
  assert.equal((await all.chats.status({ chatId: 'c2' })).status, 'idle');
  await all.members.adjust({ consumerId: 'a/b', amount: 1, unit: 'runs', reason: 'Sorry', idempotencyKey: 'k1' });
  const file = await all.upload(new File(['x'], 'a.txt'), { folder: '/app/mnt/u' });
  assert.equal(await (await all.files.content({ path: file.path })).text(), 'x');
  assert.equal((await all.files.head({ path: file.path })).headers.get('content-length'), '1');
  const key = await all.keys.create({ name: 'two' });
  await all.owners.create({ email: 'b@example.com' });
  const third = await all.owners.create({ email: 'c@example.com' });
  await all.owners.delete({ ownerId: third.ownerId });
  const { personId } = await all.people.create({ email: 'd@example.com', role: 'viewer' });
  assert.equal((await all.people.update({ personId, name: 'Dee' })).name, 'Dee');
  assert.equal((await all.people.get({ personId })).role, 'viewer');
  const endpoint = await all.webhooks.create({ url: null });
  const { endpointId } = endpoint;
  assert.match(endpoint.secret, /^whsec_/);
  assert.equal((await all.webhooks.update({ endpointId, description: 'Ours' })).description, 'Ours');
  assert.equal((await all.webhooks.get({ endpointId })).url, null);
  assert.notEqual((await all.webhooks.rotate({ endpointId })).secret, endpoint.secret);
  const { deliveryId, eventId } = await all.webhooks.test({ endpointId });
  const delivery = await all.webhooks.delivery({ endpointId, deliveryId });
  assert.deepEqual([delivery.status, JSON.parse(delivery.body).type], ['skipped', 'webhook.test']);
  assert.equal((await all.webhooks.redeliver({ endpointId, deliveryId })).eventId, eventId);
  const period = { from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' };
  assert.deepEqual(await all.webhooks.replay({ endpointId, ...period }), { deliveries: 1 });
  const schedule = await all.schedules.create({
    name: 'Yearly',
    cron: '0 0 1 1 *',
    request: { message: 'Hi', consumerId: 'a/b' },
  });
  const { scheduleId } = schedule;
  assert.equal((await all.schedules.update({ scheduleId, active: false })).active, false);
  assert.equal((await all.schedules.get({ scheduleId })).cron, '0 0 1 1 *');
  const counts: Record<string, number> = {};
  for (const [name, list] of Object.entries({
    ...{ runs: all.runs.list({ limit: 1 }), steps: all.runs.steps({ runId }), chats: all.chats.list({ limit: 1 }) },
    ...{ messages: all.chats.messages({ chatId: 'c1', limit: 1 }), members: all.members.list() },
    ...{ adjustments: all.members.adjustments({ consumerId: 'a/b' }), usage: all.usage.list() },
    ...{ summary: all.usage.summary({ groupBy: 'consumer' }), files: all.files.list({ folder: '/app/mnt/u' }) },
    ...{ integrations: all.integrations.list(), keys: all.keys.list({ limit: 1 }), owners: all.owners.list() },
    ...{ agencies: all.agencies.list(), nodes: all.nodes.list(), webhooks: all.webhooks.list() },
    deliveries: all.webhooks.deliveries({ endpointId, limit: 1 }),
    ...{ questions: all.questions.list({ state: 'all' }), people: all.people.list() },
    audit: all.audit.list({ operation: 'createPerson' }),
    ...{ schedules: all.schedules.list({ limit: 1 }), ticks: all.schedules.ticks({ scheduleId }) },
  })) {
    counts[name] = (await Array.fromAsync(list as AsyncIterable<unknown>)).length;
  }
  assert.deepEqual(counts, {
    ...{ runs: 1, steps: 1, chats: 2, messages: 2, members: 1, adjustments: 1, usage: 2, summary: 1, files: 1 },
    ...{ integrations: 3, keys: counts.keys, owners: 2, agencies: 2, nodes: 1 },
    ...{ webhooks: 1, deliveries: 3, schedules: 1, ticks: 0, questions: 0, people: 2, audit: 1 },
  });
  const again = await all.rerun({ runId }).result();
  assert.equal((await all.runs.compare({ runId, with: again.runId })).text.right, again.text);
  assert.equal((await all.evaluate({ request: { message: 'Hi' } }).result()).status, 'completed');
  await all.people.delete({ personId });
  assert.equal((await all.overview.get()).measures.runs, 1, 'without the rerun');
  assert.equal((await all.agencies.definition({ agency: 'demo' })).agents[0]?.name, 'Concierge');
  await all.webhooks.delete({ endpointId });
  const { items, nextCursor } = await all.chats.list({ limit: 1 }).page();
  assert.deepEqual([items.length, typeof nextCursor], [1, 'string']);
  assert.match(await (await all.usage.csv()).text(), /^"?kind|usageRequestId/m);
  assert.equal((await all.usage.latency()).items[0]?.runs, 1);
  assert.match(await (await all.nodes.metrics()).text(), /^# HELP/m);
  assert.equal((await all.me.get()).administrator, true);
  assert.equal((await all.me.update({ name: 'Root' })).name, 'Root');
  assert.match((await all.schedules.run({ scheduleId })).runId, /^run_/);
  await all.schedules.delete({ scheduleId });
  await all.keys.revoke({ keyId: key.keyId });
  await all.files.delete({ path: file.path });
  await all.chats.delete({ chatId: 'c2' });
  await all.members.delete({ consumerId: 'a/b', erase: true });
  assert.match((await all.members.erasure({ consumerId: 'a/b' })).status, /^eras/);
  await all.integrations.delete();

  const missed = Object.values(operations)
    .filter(({ auth, method, path }) => {
      const pattern = new RegExp(`^${method} ${path.replace(/:\w+/g, '[^/?]+')}(\\?.*)?$`);
      return auth && !requests.some((request) => pattern.test(request));
    })
    .map(({ operationId }) => operationId);
  assert.deepEqual(missed, []);
});

test('docs/client.md lists every method', () => {
  const page = readPage('docs/client.md');
  const rowsBelow = (heading: string) => page.split(`${heading}\n|---|---|\n`)[1]?.split('\n\n')[0]?.split('\n') ?? [];
  const resources = Object.entries(client).map(([name, methods]) => {
    const names = Object.keys(methods).map((method) => `\`${method}\``);
    return `| \`${name}\` | ${names.join(', ')} |`;
  });
  assert.deepEqual(rowsBelow('| property | methods |'), resources);
  const listMethods = ({ prototype }: { prototype: object }) =>
    Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor');
  const ofRun = rowsBelow('| member of `Run` | what it is |').map((row) => /^\| `(\w+)/.exec(row)?.[1]);
  assert.deepEqual(ofRun.toSorted(), [...listMethods(Run), 'admitted', 'for'].toSorted());
  const [, others = ''] = /^.*The client also has (.*)\.$/m.exec(page) ?? [];
  assert.deepEqual(others.match(/\w+(?=\(\))/g), listMethods(Runwire));
});

test('has exactly the errors of the error table', async () => {
  const classes = Object.entries(clientModule).filter(([name]) => name.endsWith('Error'));
  const reached = new Set<unknown>();
  for (const [code, entry] of Object.entries(errors)) {
    const { status, retryable } = entry;
    const answer = Response.json({ error: 'No.', code }, { status: status ?? 400, headers: { 'X-Request-Id': 'r1' } });
    const error = await errorOfAnswer(answer);
    assert.deepEqual([error.code, error.retryable, error.requestId], [code, retryable, 'r1'], code);
    if (status !== null) reached.add(error.constructor);
  }
  const others = classes.filter(([, one]) => !reached.has(one)).map(([name]) => name);
  const own = [
    'ConnectionLostError',
    'DetachedError',
    'QuestionsPendingError',
    'RunCancelledError',
    'RunFailedError',
    'RunwireError',
    'UploadError',
    'WebhookVerificationError',
  ];
  assert.deepEqual(others.toSorted(), own);
  const named = (await import('node:fs')).readFileSync('packages/client/src/errors.ts', 'utf8');
  const codes = [...named.matchAll(/\b[a-z]+(?:_[a-z]+)+\b/g)].map(([code]) => code);
  const ownCodes = [
    'connection_lost',
    'questions_pending',
    'run_cancelled',
    'upload_failed',
    'unexpected_answer',
    'webhook_not_verified',
  ];
  assert.deepEqual(
    codes.filter((code) => !(code in errors) && !ownCodes.includes(code)),
    [],
  );
});

test('a failed and a cancelled run reject text() and resolve result()', async () => {
  const failed = client.run({ message: '/fail' });
  assert.equal((await failed.result()).status, 'failed');
  await assert.rejects(failed.text(), { name: 'RunFailedError', code: 'model_error', retryable: true, admitted: true });
  const slow = client.run({ message: '/slow 60' });
  assert.equal((await slow.cancel({ mode: 'immediate' })).cancelled, true);
  await assert.rejects(slow.text(), { name: 'RunCancelledError', code: 'run_cancelled' });
});

test('a run can be read twice, as events and as sent', async () => {
  const run = client.run({ message: '/tool', usageRequestId: 'twice' });
  const [first, second] = await Promise.all([Array.fromAsync(run), Array.fromAsync(run)]);
  assert.deepEqual(first, second);
  const types = [...new Set(first.map(({ type }) => type))];
  assert.deepEqual(types, ['started', 'tool_call', 'tool_output', 'text', 'ended']);
  assert.deepEqual(
    first.flatMap((event) => (event.type === 'tool_output' ? [event.failed] : [])),
    [false],
  );
  const text = first.map((event) => (event.type === 'text' ? event.delta : '')).join('');
  assert.deepEqual([run.currentText, await run.text()], [text, text]);
  const frames = await Array.fromAsync(run.frames());
  assert.ok(first.every(({ id }) => frames.some((frame) => frame.id === id)));
});

test('toResponse passes a run and a refusal on', async () => {
  const run = client.run({ message: 'Hi' });
  const answer = await run.toResponse();
  const stored = await server.api.events(run.handle.runId ?? '', 0, 'demo');
  await stored.whole();
  assert.equal(await answer.text(), stored.text.replace(/^: \n\n/gm, ''));
  assert.equal(answer.headers.get('x-run-id'), run.handle.runId);
  const refused = await client.run({ message: 'Hi', agent: 'No one' }).toResponse();
  assert.deepEqual([refused.status, refused.headers.get('x-agent-run-admitted')], [400, 'false']);
  assert.equal(((await refused.json()) as { code: string }).code, 'unknown_agent');
});

test('answers questions by itself, and leaves a question open that it cannot answer', async () => {
  const asked: string[] = [];
  const inShop = { apiIntegrationId: 'shop' };
  const approved = client.run(
    { ...inShop, message: '/tool refund {"cents":5}' },
    { onApproval: ({ tool, arguments: { cents } }) => ({ approve: asked.push(`${tool} ${cents}`) > 0, reason: 'ok' }) },
  );
  assert.match(await approved.text(), /refunded: ok/);
  assert.deepEqual(asked, ['refund 5']);
  const questions = (await Array.fromAsync(approved)).filter(({ type }) => type === 'question');
  assert.equal(questions.length, 1);

  const tools = { position: () => ({ city: 'Rome' }) };
  const where = client.run({ ...inShop, message: '/tool position {}', usageRequestId: 'where' }, { tools });
  assert.match(await where.text(), /Rome/);
  assert.equal(where.handle.usageRequestId, 'where~2');
  const again = client.run({ ...inShop, message: '/tool position {}', usageRequestId: 'where' }, { tools });
  assert.deepEqual([await again.text(), again.handle.runId], [await where.text(), where.handle.runId]);

  const failing = client.run(
    { ...inShop, message: '/tool pick {}' },
    {
      tools: {
        pick: {
          ...{ description: 'Lets the user pick.', inputSchema: { type: 'object' } },
          execute: () => {
            throw new Error('The window was closed.');
          },
        },
      },
    },
  );
  assert.match(await failing.text(), /The window was closed\./);
  const open = client.run({ ...inShop, message: '/tool refund {}' }, { tools });
  const { status, pending } = await open.result();
  assert.deepEqual([status, pending.map(({ tool }) => tool)], ['completed', ['refund']]);
  await assert.rejects(open.text(), (error) => {
    assert.ok(error instanceof QuestionsPendingError);
    assert.deepEqual([error.code, error.admitted, error.pending], ['questions_pending', true, pending]);
    return true;
  });
});

test('progress of a tool is an event of its call', async () => {
  const events = await Array.fromAsync(client.run({ apiIntegrationId: 'shop', message: '/tool pack {}' }));
  const ofCall = events.flatMap((event) => ('callId' in event ? [event] : []));
  assert.deepEqual(
    ofCall.map((event) => [event.type, event.type === 'tool_progress' && event.text]),
    [
      ['tool_call', false],
      ['tool_progress', '1 of 2'],
      ['tool_output', false],
    ],
  );
  assert.equal(new Set(ofCall.map(({ callId }) => callId)).size, 1);
});

test('uploads report progress, sign an expired form again once, and tell why the storage refused', async () => {
  const sent: number[] = [];
  const big = new File([new Uint8Array(300_000)], 'big.bin');
  const onProgress = ({ loadedBytes }: { loadedBytes: number }) => sent.push(loadedBytes);
  await client.upload(big, { folder: '/app/mnt/u', onProgress });
  assert.equal(sent.at(-1), 300_000);

  const expired =
    '<Error><Code>AccessDenied</Code><Message>Invalid according to Policy: Policy expired.</Message></Error>';
  for (const [times, signed] of [
    [1, 2],
    [2, 2],
  ] as const) {
    let left: number = times;
    const { client: late, requests } = disturbedClient(server.url, { integration: 'demo' }, async ({ url, send }) => {
      if (!url.pathname.startsWith('/uploads/') || left === 0) return await send();
      left -= 1;
      return new Response(expired, { status: 403 });
    });
    const upload = late.upload(new Blob(['abc']), { folder: '/app/mnt/u', name: 'late.txt' });
    if (times === 1) assert.deepEqual(await upload, { name: 'late.txt', path: '/app/mnt/u/late.txt' });
    else await assert.rejects(upload, (error) => error instanceof UploadError && /Policy expired/.test(error.message));
    assert.equal(requests.filter((request) => request === 'POST /create_agency_upload').length, signed);
  }
});

test('refuses missing ids and parts of paths before any request', async () => {
  const { client: silent, requests } = disturbedClient(server.url, { integration: 'demo' }, ({ send }) => send());
  for (const chatId of ['.', '..', '', undefined, null] as string[]) {
    const message = `\`chatId\` cannot be ${JSON.stringify(chatId)}.`;
    await assert.rejects(silent.chats.delete({ chatId }), { name: 'InvalidRequestError', message, admitted: false });
  }
  const nothing = { apiIntegrationId: null, usageRequestId: null, runId: null, chatId: null, lastEventId: 0 };
  await assert.rejects(silent.attach(nothing).text(), { message: '`usageRequestId` cannot be null.' });
  const filter = { chatId: null } as unknown as { chatId: string };
  await assert.rejects(silent.runs.list(filter).page(), { message: '`chatId` cannot be null; leave it out.' });
  assert.deepEqual(requests, []);
});

test('cancel() of a run whose answers were refused rejects with the refusal', async () => {
  let posts = 0;
  const { client: refused } = disturbedClient(server.url, { integration: 'shop' }, ({ url, send }) => {
    if (url.pathname !== '/get_completion_v2') return send();
    posts += 1;
    if (posts === 1) return send();
    const refusal = { error: 'No.', code: 'question_not_pending' };
    return Promise.resolve(Response.json(refusal, { status: 400, headers: { 'X-Agent-Run-Admitted': 'false' } }));
  });
  const run = refused.run({ message: '/tool refund {}' }, { onApproval: () => true });
  await assert.rejects(run.result(), { code: 'question_not_pending' });
  await assert.rejects(run.cancel(), { code: 'question_not_pending' });
});

test('is at most 9 kB, gzipped', async () => {
  const { outputFiles } = await build({
    stdin: { contents: "export { Runwire } from '@runwire/client';", resolveDir: import.meta.dirname },
    ...{ bundle: true, minify: true, format: 'esm', target: 'es2022', conditions: ['runwire'], write: false },
  });
  const bytes = gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length;
  assert.ok(bytes > 0 && bytes <= 9000, `${bytes} bytes`);
});
