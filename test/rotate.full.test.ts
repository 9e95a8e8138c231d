import { after, test } from 'node:test';
import { count, scale } from '@runwire/test-kit/scale.ts';
import { expectEqual } from '@runwire/test-kit/shortfall.ts';
import { ScriptedServer } from './support/scripted-server.ts';
import { matchingSignatures, WebhookReceiver } from './support/webhook-receiver.ts';

/* A secret is rotated under load, and a day passes on the clock of webhooks. */

const PER_HOUR = scale(2, 40);
const HOUR_MS = 3_600_000;

const receiver = await WebhookReceiver.start();
let shiftMs = 0;
const rig = ScriptedServer.shared(() => ({
  clock: () => Date.now() + shiftMs,
  env: { RUNWIRE_WEBHOOK_ALLOW: receiver.allow },
}));
after(() => receiver[Symbol.asyncDispose]());

test('both secrets are accepted for 24 hours, then only the new one', async () => {
  const below = `/v2/integrations/${await rig.integration()}/webhooks`;
  const { endpointId, secret: old } = (await rig.api.post(below, { url: receiver.url('hook') })).body;
  const send = async (): Promise<void> => {
    const posts = Array.from({ length: PER_HOUR }, () => rig.api.post(`${below}/${endpointId}/test`, {}));
    await Promise.all(posts);
  };
  await send();
  const early = send();
  const { secret } = (await rig.api.post(`${below}/${endpointId}/rotate`, {})).body;
  await early;
  await receiver.waitFor('hook', 2 * PER_HOUR);
  const before = receiver.at('hook').length;
  for (let hour = 0; hour < 24; hour += 1) {
    await send();
    await receiver.waitFor('hook', before + (hour + 1) * PER_HOUR);
    // A minute less each, because time passes here too.
    shiftMs += HOUR_MS - 60_000;
  }
  const day = receiver.at('hook').slice(before);
  const refused = (posts: typeof day, key: string) =>
    posts.filter((post) => matchingSignatures(post, key) !== 1).length;
  expectEqual(
    'posts that the old secret refuses before the rotation',
    refused(receiver.at('hook').slice(0, PER_HOUR), old),
    0,
  );
  expectEqual('posts of 24 hours that the old secret refuses', refused(day, old), 0);
  expectEqual('posts of 24 hours that the new secret refuses', refused(day, secret), 0);
  shiftMs += HOUR_MS;
  await send();
  await receiver.waitFor('hook', before + 25 * PER_HOUR);
  const last = receiver.at('hook').slice(before + 24 * PER_HOUR);
  expectEqual('later posts that the old secret accepts', PER_HOUR - refused(last, old), 0);
  expectEqual('later posts that the new secret refuses', refused(last, secret), 0);
  count({ posts: receiver.at('hook').length, refused: 0 });
});
