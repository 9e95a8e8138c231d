import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectAtLeast, expectEqual, until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { named, type Proof } from './support/proof.ts';
import { Rig } from './support/rig.ts';
import { checkStory } from './support/story.ts';

/*
 * The server stops before it stores the end of a run, and so before any answer to the cancel, until the provider has seen its
 * connection closed. A server that closes it later never continues.
 */

const HALF = 'Half of an answer';

async function round(rig: Rig, n: number, letEnd: () => void): Promise<number> {
  const api = rig.api();
  const hold = async (usageRequestId: string) => {
    const ids = { apiIntegrationId: rig.integration, consumerId: 'ann', chatId: `c${n}`, usageRequestId };
    const reader = await api.complete(ids);
    const call = await within('model call', WAIT_MS, rig.model.nextCall());
    return { reader, call, runId: String(reader.headers['x-run-id']) };
  };
  const cancel = (runId: string) => api.post(`${rig.path}/runs/${runId}/cancel`);
  const used = async (): Promise<number> => (await api.get(`${rig.path}/members/ann`)).body.allowance.used;

  const { reader, call, runId } = await hold(`u${n}`);
  await call.text('Half of ');
  await call.text('an answer');
  await until('partial text', () => reader.answer === HALF, { pauseMs: 5 });
  const before = await used();
  const answers = Promise.all([cancel(runId), cancel(runId)]);
  // A server that fails the proof is killed before it answers.
  const first = Promise.race([answers.catch(() => {}), call.closed.then(() => 'closed')]);
  await within('provider sees its connection closed before the cancel is answered', 5_000, call.closed);
  expectEqual('what happened first, the end of the provider or the answers', await first, 'closed');
  letEnd();
  const [one, other] = (await within('answers to the cancel', WAIT_MS, answers)).map(({ body }) => body);
  expectEqual('first cancel', [one.status, one.cancelled], ['cancelled', true]);
  expectEqual('concurrent second cancel', other, one);
  await within('end of the stream', WAIT_MS, reader.over);

  // Partial text is kept and charged.
  const charged = (await used()) - before;
  expectAtLeast('tokens charged for partial text', charged, Math.ceil(HALF.length / 4));
  const story = await checkStory(rig, { runId, seen: reader.frames });
  expectEqual('partial text', [story.run.status, story.run.message], ['cancelled', HALF]);
  expectEqual('charged', [one.usage.total_tokens, story.charged], [charged, { unit: 'tokens', amount: charged }]);

  // A cancel of an old run does not stop the newer run of its chat.
  const next = await hold(`u${n}-next`);
  const late = await cancel(runId);
  expectEqual('cancel of the old run again', [late.status, late.body], [200, one]);
  expectEqual('provider of the newer run is closed', next.call.isClosed, false);
  await next.call.text('Whole.');
  await next.call.end();
  letEnd();
  await within('end of the newer run', WAIT_MS, next.reader.over);
  const { run: newer } = await checkStory(rig, { runId: next.runId, seen: next.reader.frames });
  expectEqual('newer run', [newer.status, newer.message], ['completed', 'Whole.']);
  return charged;
}

export const proof: Proof = {
  name: 'cancel',
  minutes: 0.2,
  faults: {
    'deaf-model': /^round 1: provider sees its connection closed before the cancel is answered: expected within/m,
  },
  async run({ fault, scale }) {
    const rounds = scale(5, 50);
    await using rig = await Rig.open({ fault });
    const file = join(rig.dataDir, 'go-on');
    const letEnd = () => writeFileSync(file, '');
    await rig.add({ hold: { at: 'settle.before', file } });
    const allowances = { unit: 'tokens', limit: 1_000_000, period: 'lifetime' };
    await rig.prepare({ apiIntegrationId: 'cancel', agency: 'test', allowances }, 'ann');
    let charged = 0;
    try {
      for (let n = 1; n <= rounds; n += 1) charged += await named(`round ${n}`, round(rig, n, letEnd));
    } finally {
      // The server continues, and can be ended.
      letEnd();
    }
    return { rounds, cancelled: rounds, closedFirst: rounds, charged };
  },
};
