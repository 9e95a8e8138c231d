import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { verifyWebhook } from '@runwire/client';
import { FaultyProxy } from '@runwire/test-kit/faulty-proxy.ts';
import { type RunningCommand, startRunwire } from './support/cli-process.ts';
import { CommandServer } from './support/command-server.ts';
import { until } from './support/eventually.ts';
import { WebhookReceiver } from './support/webhook-receiver.ts';

/* The commands of webhooks, as processes: endpoints and deliveries, and the forwarding to a local address. */

let commands: CommandServer;
let receiver: WebhookReceiver;
before(async () => {
  receiver = await WebhookReceiver.start();
  commands = await CommandServer.start({ env: { RUNWIRE_WEBHOOK_ALLOW: receiver.allow } });
});
after(async () => {
  await commands[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

const endpoints = async () => (await commands.server.api.get('/v2/integrations/demo/webhooks')).body.items;

async function answerRun(): Promise<string> {
  const run = await commands.server.api.complete({ apiIntegrationId: 'demo', message: 'Hello' });
  await run.whole();
  return String(run.headers['x-run-id']);
}

test('endpoints and deliveries', async () => {
  const url = receiver.url('hook');
  const [created] = await commands.session(['webhooks', 'create', url, '--events', 'webhook.test,run.failed']);
  assert.equal(created?.[0], 0, created?.[2] ?? '');
  assert.match(created?.[1] ?? '', /^whsec_\S+\n$/);
  const [, endpoint = ''] = /^The endpoint is (whe_\w+)\./.exec(created?.[2] ?? '') ?? [];
  const [tested] = await commands.session(['webhooks', 'test', endpoint]);
  const [delivery = ''] = /^whd_\w+/.exec(tested?.[1] ?? '') ?? [];
  await receiver.waitFor('hook', 1);
  const isDelivered = async () => {
    const { body } = await commands.server.api.get(`/v2/integrations/demo/webhooks/${endpoint}/deliveries`);
    return body.items[0].status === 'delivered';
  };
  await until(isDelivered);
  const [list, table, one, redelivered, replayed, updated, noChange, rotated, deleted, gone] = await commands.session(
    ['webhooks', 'list'],
    ['webhooks', 'deliveries', endpoint, '--status', 'delivered', '--type', 'webhook.test'],
    ['webhooks', 'delivery', endpoint, delivery],
    ['webhooks', 'redeliver', endpoint, delivery, '--json'],
    ['webhooks', 'replay', endpoint, '--from', '2020-01-01', '--types', 'webhook.test'],
    ['webhooks', 'update', endpoint, '--pause', '--description', 'Ours'],
    ['webhooks', 'update', endpoint],
    ['webhooks', 'rotate', endpoint, '--json'],
    ['webhooks', 'delete', endpoint],
    ['webhooks', 'show', endpoint],
  );
  assert.match(list?.[1] ?? '', /^ENDPOINT +STATE .*\nwhe_\w+ +active +- +webhook\.test, run\.failed +http\S+ +-\n$/);
  assert.match(table?.[1] ?? '', /^DELIVERY .*\nwhd_\w+ +webhook\.test +delivered +1 .* 204\n$/);
  assert.deepEqual(JSON.parse(one?.[1] ?? ''), JSON.parse(receiver.at('hook')[0]?.body ?? ''));
  assert.match(one?.[2] ?? '', /^delivery: +whd_\w+\n[\s\S]*status: +delivered\n/);
  const { eventId } = JSON.parse(redelivered?.[1] ?? '');
  assert.equal(eventId, receiver.at('hook')[0]?.id);
  assert.deepEqual(replayed, [0, '', '1 event is sent once more.\n']);
  assert.match(updated?.[1] ?? '', /state: +paused\n[\s\S]*description: +Ours\n/);
  assert.equal(noChange?.[0], 2);
  assert.match(JSON.parse(rotated?.[1] ?? '').secret, /^whsec_/);
  assert.deepEqual(deleted, [0, '', `The endpoint ${endpoint} is deleted.\n`]);
  assert.equal(gone?.[0], 4);
  assert.match(gone?.[2] ?? '', /; `runwire webhooks list` lists the endpoints\. \(webhook_not_found/);
});

/** A `webhooks listen` that is ready, with the lines that it prints. */
async function startListening(path: string, env: Readonly<Record<string, string>> = {}) {
  const args = ['webhooks', 'listen', '--forward-to', receiver.url(path), '--json'];
  const command: RunningCommand = startRunwire(args, { env: { ...commands.environment, ...env } });
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    command.child[name]?.on('data', (piece) => {
      printed[name] += piece;
    });
  }
  const lines = () =>
    printed.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  await until(() => printed.stderr.includes('Ready.') || command.child.exitCode !== null);
  const [endpoint] = lines();
  assert.ok(endpoint !== undefined, printed.stderr);
  return { ...command, endpoint, printed, attempts: () => lines().slice(1) };
}

test('listen forwards each event once, signed, and deletes its endpoint at Ctrl-C', async () => {
  const { child, result, endpoint, attempts } = await startListening('local');
  assert.deepEqual([(await endpoints()).length, endpoint.url], [1, null]);
  receiver.answers('local', (_, earlier) => (earlier === 0 ? { status: 503, text: 'Starting.' } : {}));
  const runs = [await answerRun(), await answerRun(), await answerRun()];
  await receiver.waitFor('local', 4);
  const { body } = await commands.server.api.post(`/v2/integrations/demo/webhooks/${endpoint.endpointId}/test`, {});
  const posts = await receiver.waitFor('local', 5);
  const events = await Promise.all(posts.map((post) => verifyWebhook(post.body, post.headers, endpoint.secret)));
  const ended = events.flatMap((event) => (event.type === 'run.completed' ? [event.data.runId] : []));
  assert.deepEqual(new Set(ended), new Set(runs));
  assert.equal(ended.length, 4, 'only the refused post is repeated');
  assert.equal(events.at(-1)?.eventId, body.eventId);
  await until(() => attempts().length === 5);
  const refused = attempts().find(({ error }) => error !== null);
  assert.deepEqual([refused.status, refused.error, refused.nextInSeconds], [503, 'Starting.', 1]);
  child.kill('SIGINT');
  assert.equal((await result).code, 130);
  assert.deepEqual(await endpoints(), []);
});

test('listen survives an outage, and ends if its endpoint is deleted', async () => {
  await using proxy = await FaultyProxy.start(commands.server.url);
  const { result, endpoint, printed, attempts } = await startListening('away', { RUNWIRE_URL: proxy.url });
  proxy.plan = () => ({ kind: 'refuse' });
  const runs = [await answerRun(), await answerRun()];
  await until(() => printed.stderr.includes('cannot be reached'));
  proxy.plan = () => null;
  await receiver.waitFor('away', 2);
  await until(() => attempts().length === 2);
  assert.deepEqual(new Set(attempts().map(({ runId }) => runId)), new Set(runs));
  await commands.server.api.delete(`/v2/integrations/demo/webhooks/${endpoint.endpointId}`);
  const { code, stderr } = await result;
  assert.equal(code, 4, stderr);
  assert.match(stderr, /cannot be reached [\s\S]*The server answers again\.\n[\s\S]*"code":"webhook_not_found"/);
});

test('listen deletes its endpoint at SIGTERM, and refuses an address that is none', async () => {
  const { child, result } = await startListening('ended');
  child.kill('SIGTERM');
  assert.equal((await result).code, 130);
  assert.deepEqual(await endpoints(), []);
  const [wrong] = await commands.session(['webhooks', 'listen', '--forward-to', 'localhost:3000']);
  assert.deepEqual(wrong?.[0], 2);
  assert.match(wrong?.[2] ?? '', /^--forward-to is `localhost:3000`; write an address such as /);
});
