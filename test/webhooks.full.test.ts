import { test } from 'node:test';
import { Rig, SHORT_LEASE, type WaitPoint } from '@runwire/test-kit';
import { count, scale } from '@runwire/test-kit/scale.ts';
import { expectEqual, until } from '@runwire/test-kit/shortfall.ts';
import OpenAI from 'openai';
import { Webhook } from 'standardwebhooks';
import { cites } from '../requirements/cite.ts';
import { type ReceivedPost, type ReceiverAnswer, WebhookReceiver } from './support/webhook-receiver.ts';

/*
 * Nodes die at every wait point between the end of a run and the recorded delivery, beside two nodes that live. Receivers
 * answer with success, failures and garbage. Every end must arrive, with one id, and nothing else may.
 */

const POINTS: readonly WaitPoint[] = [
  'end.before-commit',
  'end.after-commit',
  'settle.after',
  'webhook.before-commit',
  'webhook.after-commit',
  'webhook-post.before',
  'webhook-post.after',
];
const PER_POINT = scale(6, 300);
const LANES = 6;
const LIMIT_MS = 180_000;

/** What each receiver answers to its first posts. Afterwards it accepts. */
const FIRST: Readonly<Record<string, ReceiverAnswer>> = {
  accepts: {},
  fails: { status: 500 },
  redirects: { status: 302, headers: { location: 'https://example.com/' } },
  limits: { status: 429, headers: { 'retry-after': '1' } },
  cuts: { broken: 'cuts' },
  garbles: { broken: 'garbage' },
};
const FAILURES = 3;

async function isAccepted({ headers, body }: ReceivedPost, secret: string): Promise<boolean> {
  const sent = headers as Record<string, string>;
  try {
    new Webhook(secret).verify(body, sent);
    await new OpenAI({ apiKey: 'none' }).webhooks.unwrap(body, sent, secret);
    return true;
  } catch {
    return false;
  }
}

/** Starts runs that complete, fail or are cancelled on this server, until it dies or all have ended. */
async function runAll(rig: Rig, server: number, label: string): Promise<void> {
  const { api } = rig.server(server);
  let next = 0;
  const lane = async () => {
    while (next < PER_POINT) {
      const index = next++;
      const message = ['complete', 'fail', 'cancel'][index % 3] ?? '';
      const body = { apiIntegrationId: rig.integration, usageRequestId: `${label}-${index}`, message };
      const reader = await api.complete(body).catch(() => null);
      const runId = reader?.headers['x-run-id'];
      if (reader === null || runId === undefined) return;
      if (message === 'cancel') await api.post(`${rig.path}/runs/${runId}/cancel`, {}).catch(() => null);
      await reader.over.catch(() => false);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

test('every end is posted at least once, whatever dies, and nothing else', async (t) => {
  cites(t, 'contract-21-outbox');
  await using receiver = await WebhookReceiver.start();
  await using rig = await Rig.start({ nodes: 2, limits: SHORT_LEASE, env: { RUNWIRE_WEBHOOK_ALLOW: receiver.allow } });
  await rig.prepare({ apiIntegrationId: 'hooks' });
  rig.model.onCall = async (call) => {
    const prompt = JSON.stringify(call.request.prompt);
    if (prompt.includes('fail')) return call.fail('model_error', 'It failed.');
    if (prompt.includes('cancel')) return;
    await call.text('Hi');
    await call.end();
  };
  const secrets = new Map<string, string>();
  for (const [path, answer] of Object.entries(FIRST)) {
    receiver.answers(path, (_, earlier) => (earlier < FAILURES ? answer : {}));
    const { body } = await rig.api().post(`${rig.path}/webhooks`, { url: receiver.url(path) });
    secrets.set(path, body.secret);
  }
  let killed = 0;
  for (const point of POINTS) {
    const victim = await rig.add({ killAt: point, killAfter: 2 });
    const server = rig.servers.indexOf(victim);
    await Promise.all([runAll(rig, server, point), runAll(rig, killed % 2, `${point}-beside`)]);
    await victim.kill();
    killed += 1;
  }
  const list = async () => {
    const runs: { runId: string; status: string }[] = [];
    for (let cursor = ''; ; ) {
      const query = `limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`;
      const { body } = await rig.api().get(`${rig.path}/runs?${query}`);
      runs.push(...body.items);
      if (body.nextCursor === null) return runs;
      cursor = body.nextCursor;
    }
  };
  const isEnded = async () => (await list()).every(({ status }) => !['admitted', 'running'].includes(status));
  await until('the end of all runs', isEnded, { limitMs: LIMIT_MS, pauseMs: 500 });
  const ends = new Set((await list()).map(({ runId, status }) => `${runId} run.${status}`));
  const toEnd = ({ body }: ReceivedPost) => {
    const { type, data } = JSON.parse(body);
    return `${data.runId} ${type}`;
  };
  // Each post is read once, because the receivers share this process.
  const arrived = new Map([...secrets.keys()].map((path) => [path, new Set<string>()]));
  const first = new Map<string, number>();
  let seen = 0;
  const countLost = () => {
    for (const post of receiver.posts.slice(seen)) {
      const earlier = first.get(post.path) ?? 0;
      first.set(post.path, earlier + 1);
      if (post.path === 'accepts' || earlier >= FAILURES) arrived.get(post.path)?.add(toEnd(post));
      seen += 1;
    }
    return [...arrived.values()].reduce((lost, found) => lost + [...ends].filter((end) => !found.has(end)).length, 0);
  };
  await until('all posts', () => countLost() === 0, { limitMs: LIMIT_MS, pauseMs: 500 }).catch(() => {});
  expectEqual('lost', countLost(), 0);
  expectEqual('invented', receiver.posts.filter((post) => !ends.has(toEnd(post))).length, 0);
  const ids = Map.groupBy(receiver.posts, toEnd);
  const several = [...ids.values()].filter((posts) => new Set(posts.map(({ id, body }) => id + body)).size > 1);
  expectEqual('events with several ids or bodies', several.length, 0);
  let refused = 0;
  for (const post of receiver.posts) if (!(await isAccepted(post, secrets.get(post.path) ?? ''))) refused += 1;
  expectEqual('signatures that a library refuses', refused, 0);
  count({ runs: ends.size, posts: receiver.posts.length, kills: killed, lost: 0, invented: 0 });
});
