import { setTimeout as sleep } from 'node:timers/promises';
import { byCurl, byFetch, type Transport } from '../packages/test-kit/src/stream-clients.ts';
import { expectEqual, expectNumber, type Proof, within } from './support/proof.ts';
import { Rig } from './support/rig.ts';

const WAIT_MS = 60_000;
const WORDS = ['Grüße', ', 你好 ', '😀', '\n\n', 'id: 1\ndata: no frame\n\n', 'and the end.'];
/** The model's answer after a crash. */
const ANEW = ['Noch ', 'einmal: 😀'];
const ENDS = ['completed', 'failed', 'cancelled'] as const;

const bodyOf = (usageRequestId: string) => ({ apiIntegrationId: 'text', message: 'Say it.', usageRequestId });

/** Reads an answer to its end. */
async function read(transport: Transport, rig: Rig, body: object) {
  const { url, api } = rig.servers.at(-1) ?? rig.server();
  const headers = { ...api.authorization, 'content-type': 'application/json' };
  let text = '';
  const request = { url: `${url}/get_completion_v2`, headers, body: JSON.stringify(body) };
  const isWhole = await within(
    'end of an answer',
    WAIT_MS,
    transport(request, (piece) => (text += piece)),
  );
  return { text, isWhole };
}

/** Every end after every number of words, read live and again, by every client. */
async function everyEnd(fault: string | null) {
  await using rig = await Rig.start({ fault });
  await rig.prepare({ apiIntegrationId: 'text', textOnly: true });
  const counts = { equal: 0, normal_ends: 0, abnormal_ends: 0 };
  for (const end of ENDS) {
    for (let words = 0; words <= WORDS.length; words += 1) {
      const what = `${end} after ${words} words`;
      const body = bodyOf(`${end}-${words}`);
      const live = read(byCurl, rig, body);
      const call = await within('call of the model', WAIT_MS, rig.model.nextCall());
      const reader = await rig.api().complete(body);
      expectEqual(`${what}: content type`, reader.headers['content-type'], 'text/plain; charset=utf-8');
      const runId = String(reader.headers['x-run-id']);
      const said = WORDS.slice(0, words).join('');
      for (const word of WORDS.slice(0, words)) await call.text(word);
      await within(
        `${what}: text`,
        WAIT_MS,
        reader.until(({ text }) => text === said),
      );
      if (end === 'failed') await call.fail('model_error', 'The model broke.');
      else if (end === 'completed') await call.end();
      else {
        const { body: cancelled } = await rig.api().post(`/v2/integrations/text/runs/${runId}/cancel`);
        expectEqual(`${what}: status`, cancelled.status, 'cancelled');
      }
      const isWhole = await within(`${what}: end`, WAIT_MS, reader.over);
      const readings = [await live, { text: reader.text, isWhole }];
      for (const transport of [byCurl, byFetch]) readings.push(await read(transport, rig, body));
      const events = await rig.api().events(runId, null, 'text');
      await within(`${what}: events`, WAIT_MS, events.over);
      for (const reading of [{ text: events.answer, isWhole: end === 'completed' }, ...readings]) {
        expectEqual(`${what}: text`, reading.text, said);
        expectNumber(`${what}: normal ends`, Number(reading.isWhole), Number(end === 'completed'));
      }
      counts.equal += readings.length;
      counts[end === 'completed' ? 'normal_ends' : 'abnormal_ends'] += readings.length;
    }
  }
  return counts;
}

/** Text that was read but not stored is never sent again after a crash: the run continues, or it had its last attempt. */
async function afterCrash(fault: string | null, continues: boolean) {
  await using rig = await Rig.start({ fault, limits: { flushMs: 600_000 } });
  await rig.prepare({ apiIntegrationId: 'text', textOnly: true });
  const body = bodyOf('void');
  const readings = [byCurl, byFetch].map((transport) => read(transport, rig, body));
  const call = await within('call of the model', WAIT_MS, rig.model.nextCall());
  const reader = await rig.api().complete(body);
  while ((await rig.server().probe()).openStreams < readings.length + 1) await sleep(20);
  for (const word of WORDS) await call.text(word);
  await within(
    'text before the crash',
    WAIT_MS,
    reader.until(({ text }) => text === WORDS.join('')),
  );
  await rig.server().kill();
  const cut = await Promise.all(readings);
  expectNumber('normal ends by a crash', cut.filter(({ isWhole }) => isWhole).length, 0);
  rig.model.answerAll(...ANEW);
  await rig.add({ limits: continues ? {} : { maxAttempts: 1 } });
  const again = [await read(byCurl, rig, body), await read(byFetch, rig, body)];
  const expected = { text: continues ? ANEW.join('') : '', isWhole: continues };
  expectEqual('texts after the crash', again, [expected, expected]);
  return { void_ends: cut.length + (continues ? 0 : again.length), anew: continues ? again.length : 0 };
}

export const proof: Proof = {
  name: 'text-mode',
  minutes: 1.5,
  faults: { 'hide-failures': /^failed after 0 words: normal ends: expected 0, found 1\.$/m },
  async run({ fault, scale }) {
    const rounds = scale(1, 10);
    const counts = { equal: 0, normal_ends: 0, abnormal_ends: 0, void_ends: 0, anew: 0 };
    for (let round = 0; round < rounds; round += 1) {
      const parts = [await everyEnd(fault), await afterCrash(fault, false), await afterCrash(fault, true)];
      for (const [key, count] of parts.flatMap(Object.entries<number>)) counts[key as keyof typeof counts] += count;
    }
    return { rounds, ...counts };
  },
};
