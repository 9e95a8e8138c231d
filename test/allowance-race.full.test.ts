import { test } from 'node:test';
import { Rig, type StreamReader } from '@runwire/test-kit';
import { count, givenNodes, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { expectEqual, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { countWaits } from './support/lock-waits.ts';
import { expectAllowance } from './support/story.ts';

const REQUESTS = 20;
const LIMIT = 3;

const isAdmitted = ({ status, headers }: StreamReader) => status === 200 && headers['x-agent-run-admitted'] === 'true';
const isRefused = ({ status, headers, text }: StreamReader) =>
  status === 429 &&
  headers['x-agent-run-admitted'] === 'false' &&
  JSON.parse(text).code === 'consumer_allowance_exhausted';

/** 20 concurrent requests of a fresh member, spread over the servers; the model waits until all are answered. */
async function race(rig: Rig, round: number): Promise<void> {
  const consumerId = `member-${round}`;
  expectEqual(
    'status of a new member',
    (await rig.api(round).put(`${rig.path}/members/${consumerId}`, {})).status,
    201,
  );
  const answered = Promise.withResolvers<void>();
  rig.model.onCall = async (call) => {
    await answered.promise;
    await call.text('Here.');
    await call.end();
  };
  const posts = Array.from({ length: REQUESTS }, (_, i) =>
    rig.api(round + i).complete({ apiIntegrationId: 'race', consumerId, usageRequestId: `request-${round}-${i}` }),
  );
  const readers = await within('heads of all requests', WAIT_MS, Promise.all(posts));
  answered.resolve();
  const whole = await within('end of all answers', WAIT_MS, Promise.all(readers.map(({ over }) => over)));
  expectEqual('answers that came whole', whole.filter(Boolean).length, REQUESTS);
  const admitted = readers.filter(isAdmitted);
  expectEqual(`admitted in round ${round}`, admitted.length, LIMIT);
  expectEqual(`refused in round ${round}`, readers.filter(isRefused).length, REQUESTS - LIMIT);
  const completed = admitted.filter(({ text }) => text.includes('\nevent: messages\n') && text.includes('"completed"'));
  expectEqual(`completed in round ${round}`, completed.length, LIMIT);
  await expectAllowance(rig.api(round + 1), `${rig.path}/members/${consumerId}`, LIMIT);
  const { items } = (await rig.api(round + 2).get(`${rig.path}/usage?consumerId=${consumerId}&limit=200`)).body;
  expectEqual(`usage records after round ${round}`, items.length, LIMIT);
}

async function races(rig: Rig, rounds: number) {
  const allowances = { unit: 'runs', limit: LIMIT, period: 'lifetime' };
  await rig.prepare({ apiIntegrationId: 'race', allowances });
  for (let round = 1; round <= rounds; round += 1) await race(rig, round);
  return {
    rounds,
    requests: rounds * REQUESTS,
    admitted: rounds * LIMIT,
    refused: rounds * (REQUESTS - LIMIT),
    model_calls: expectEqual('model calls', rig.model.calls.length, rounds * LIMIT),
  };
}

test('concurrent requests never exceed an allowance', async () => {
  const fault = plantedFault();
  const nodes = givenNodes();
  const rounds = scale(5, 100);
  if (nodes === null) {
    await using rig = await Rig.start({ fault });
    count(await races(rig, rounds));
    return;
  }
  const play = async (dropHints: boolean) => {
    await using rig = await Rig.start({ fault, nodes, dropHints });
    return await countWaits(rig, () => races(rig, rounds));
  };
  const heard = await play(false);
  const { admitted, lock_waits, retries } = await play(true);
  count({ nodes, ...heard, deaf_admitted: admitted, deaf_lock_waits: lock_waits, deaf_retries: retries });
});
