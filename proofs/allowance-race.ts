import { ModelController, type StreamReader } from '@runwire/server/testing';
import { DataFolder } from './support/data-folder.ts';
import { expectNumber, type Proof, within } from './support/proof.ts';
import { startServer } from './support/start-server.ts';

const WAIT_MS = 60_000;
const REQUESTS = 20;
const LIMIT = 3;
const INTEGRATION = '/v2/integrations/race';

/** 20 requests of a fresh member at once, whose model calls wait until all are answered. */
async function race(server: Awaited<ReturnType<typeof startServer>>, model: ModelController, round: number) {
  const consumerId = `member-${round}`;
  const member = await server.api.put(`${INTEGRATION}/members/${consumerId}`, {});
  expectNumber('status of a new member', member.status, 201);
  const answered = Promise.withResolvers<void>();
  model.onCall = async (call) => {
    await answered.promise;
    await call.text('Here.');
    await call.end();
  };
  const posts = Array.from({ length: REQUESTS }, (_, i) =>
    server.api.complete({ apiIntegrationId: 'race', consumerId, usageRequestId: `request-${round}-${i}` }),
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

  const { allowance } = (await server.api.get(`${INTEGRATION}/members/${consumerId}`)).body;
  expectNumber(`used after round ${round}`, allowance.used, LIMIT);
  expectNumber(`reserved after round ${round}`, allowance.reserved, 0);
  const usage = (await server.api.get(`${INTEGRATION}/usage?consumerId=${consumerId}&limit=200`)).body.items;
  expectNumber(`usage records after round ${round}`, usage.length, LIMIT);
}

export const proof: Proof = {
  name: 'allowance-race',
  faults: ['forget-holds'],
  async run({ fault, short }) {
    const rounds = short ? 5 : 100;
    using folder = new DataFolder();
    await using model = await ModelController.start();
    await using server = await startServer(fault, { dataDir: folder.path, controllerPort: model.port });
    const allowances = { unit: 'runs', limit: LIMIT, period: 'lifetime' };
    const made = await server.api.post('/v2/integrations', { apiIntegrationId: 'race', name: 'Race', allowances });
    expectNumber('status of the integration', made.status, 201);
    for (let round = 1; round <= rounds; round += 1) await race(server, model, round);
    return {
      rounds,
      requests: rounds * REQUESTS,
      admitted: rounds * LIMIT,
      refused: rounds * (REQUESTS - LIMIT),
      model_calls: expectNumber('model calls', model.calls.length, rounds * LIMIT),
    };
  },
};
