import { test } from 'node:test';
import { Rig } from '@runwire/test-kit';
import { count, scale } from '@runwire/test-kit/scale.ts';
import { expectAtLeast, until } from '@runwire/test-kit/shortfall.ts';
import { WebhookReceiver } from './support/webhook-receiver.ts';

/* One endpoint hangs beside nine that answer. */

const EVENTS = scale(40, 1000);
const LIMIT_MS = 10_000;
const CONCURRENT = 20;

test('a receiver that hangs delays no other', async () => {
  await using receiver = await WebhookReceiver.start();
  await using rig = await Rig.start({ env: { RUNWIRE_WEBHOOK_ALLOW: receiver.allow } });
  await rig.prepare({ apiIntegrationId: 'hooks' });
  const paths = Array.from({ length: 9 }, (_, index) => `quick-${index}`);
  receiver.answers('hanging', { broken: 'hangs' });
  for (const path of ['hanging', ...paths]) {
    await rig.api().post(`${rig.path}/webhooks`, { url: receiver.url(path) });
  }
  rig.model.onCall = async (call) => {
    await call.text('Hi');
    await call.end();
  };
  let left = EVENTS;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      const reader = await rig.api().complete({ apiIntegrationId: rig.integration, message: 'Hello' });
      await reader.whole();
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, lane));
  const ended = performance.now();
  const received = () => Math.min(...paths.map((path) => new Set(receiver.at(path).map(({ id }) => id)).size));
  await until(`${EVENTS} events at nine receivers`, () => received() >= EVENTS, { limitMs: LIMIT_MS }).catch(() => {});
  expectAtLeast(`events at each of nine receivers within ${LIMIT_MS} ms`, received(), EVENTS);
  count({ events: EVENTS, receivers: 9, after_ms: Math.round(performance.now() - ended) });
});
