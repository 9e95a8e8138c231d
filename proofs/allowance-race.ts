import { type ApiClient, ModelController, type StreamReader } from '@runwire/test-kit';
import { DataFolder } from './support/data-folder.ts';
import { LockWaits, retriesOf } from './support/lock-waits.ts';
import { expectAtLeast, expectNumber, type Proof, within } from './support/proof.ts';
import { startNodes } from './support/start-nodes.ts';
import { startServer } from './support/start-server.ts';

const WAIT_MS = 60_000;
const REQUESTS = 20;
const LIMIT = 3;
const INTEGRATION = '/v2/integrations/race';

/** The server that is asked, by turns. */
type Api = (place: number) => ApiClient;

/** 20 requests of a fresh member at once, whose model calls wait until all are answered. */
async function race(api: Api, model: ModelController, round: number) {
  const consumerId = `member-${round}`;
  const member = await api(round).put(`${INTEGRATION}/members/${consumerId}`, {});
  expectNumber('status of a new member', member.status, 201);
  const answered = Promise.withResolvers<void>();
  model.onCall = async (call) => {
    await answered.promise;
    await call.text('Here.');
    await call.end();
  };
  const posts = Array.from({ length: REQUESTS }, (_, i) =>
    api(round + i).complete({ apiIntegrationId: 'race', consumerId, usageRequestId: `request-${round}-${i}` }),
  );
  const readers = await within('heads of all requests', WAIT_MS, Promise.all(posts));
  answered.resolve();
  const whole = await within('end of all answers', WAIT_MS, Promise.all(readers.map(({ over }) => over)));
  expectNumber('answers that came whole', whole.filter(Boolean).length, REQUESTS);

  const isAdmitted = ({ status, headers }: StreamReader) =>
    status === 200 && headers['x-agent-run-admitted'] === 'true';
  const isRefused = ({ status, headers, text }: StreamReader) =>
    status === 429 &&
    headers['x-agent-run-admitted'] === 'false' &&
    JSON.parse(text).code === 'consumer_allowance_exhausted';
  const admitted = readers.filter(isAdmitted);
  expectNumber(`admitted in round ${round}`, admitted.length, LIMIT);
  expectNumber(`refused in round ${round}`, readers.filter(isRefused).length, REQUESTS - LIMIT);
  const completed = admitted.filter(({ text }) => text.includes('\nevent: messages\n') && text.includes('"completed"'));
  expectNumber(`completed in round ${round}`, completed.length, LIMIT);

  const { allowance } = (await api(round + 1).get(`${INTEGRATION}/members/${consumerId}`)).body;
  expectNumber(`used after round ${round}`, allowance.used, LIMIT);
  expectNumber(`reserved after round ${round}`, allowance.reserved, 0);
  const usage = (await api(round + 2).get(`${INTEGRATION}/usage?consumerId=${consumerId}&limit=200`)).body.items;
  expectNumber(`usage records after round ${round}`, usage.length, LIMIT);
}

async function races(api: Api, model: ModelController, rounds: number) {
  const allowances = { unit: 'runs', limit: LIMIT, period: 'lifetime' };
  const made = await api(0).post('/v2/integrations', { apiIntegrationId: 'race', name: 'Race', allowances });
  expectNumber('status of the integration', made.status, 201);
  for (let round = 1; round <= rounds; round += 1) await race(api, model, round);
  return {
    rounds,
    requests: rounds * REQUESTS,
    admitted: rounds * LIMIT,
    refused: rounds * (REQUESTS - LIMIT),
    model_calls: expectNumber('model calls', model.calls.length, rounds * LIMIT),
  };
}

async function onOne(fault: string | null, rounds: number) {
  using folder = new DataFolder();
  await using model = await ModelController.start();
  await using server = await startServer(fault, { dataDir: folder.path, controllerPort: model.port });
  return await races(() => server.api, model, rounds);
}

/** The requests of each round are spread over the nodes. */
async function onSeveral(fault: string | null, rounds: number, nodes: number, dropHints: boolean) {
  await using model = await ModelController.start();
  await using all = await startNodes(nodes, fault, { controllerPort: model.port, dropHints });
  await using waits = await LockWaits.start(all.databaseUrl);
  const figures = await races((place) => all.api(place), model, rounds);
  const retries = await retriesOf(all);
  const prefix = dropHints ? 'without hints, ' : '';
  expectAtLeast(`${prefix}lock waits and retries`, waits.count + retries, 1);
  return { ...figures, lock_waits: waits.count, retries };
}

export const proof: Proof = {
  name: 'allowance-race',
  minutes: 0.2,
  faults: {
    'forget-holds': /^admitted in round 1: expected 3, found \d+\.$/m,
  },
  spreads: true,
  async run({ fault, scale, nodes }) {
    const short = scale(true, false);
    const rounds = short ? 5 : 100;
    if (nodes === null) return await onOne(fault, rounds);
    const heard = await onSeveral(fault, rounds, nodes, false);
    const deaf = await onSeveral(fault, rounds, nodes, true);
    return {
      nodes,
      ...heard,
      deaf_admitted: deaf.admitted,
      deaf_lock_waits: deaf.lock_waits,
      deaf_retries: deaf.retries,
    };
  },
};
