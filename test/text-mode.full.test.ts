import { test } from 'node:test';
import { Rig } from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { addTo, expectEqual, until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { byCurl, byFetch, type Transport } from '@runwire/test-kit/stream-clients.ts';
import { arrives } from './support/readers.ts';

const WORDS = ['Grüße', ', 你好 ', '😀', '\n\n', 'id: 1\ndata: no frame\n\n', 'and the end.'];
/** The model's answer after a crash. */
const ANEW = ['Noch ', 'einmal: 😀'];
const ENDS = ['completed', 'failed', 'cancelled'] as const;
const TRANSPORTS = [byCurl, byFetch];

async function start(fault: string | null, limits: Readonly<Record<string, number>> = {}): Promise<Rig> {
  const rig = await Rig.start({ fault, limits });
  await rig.prepare({ apiIntegrationId: 'text', textOnly: true });
  return rig;
}

/** Reads an answer to its end. */
async function read(transport: Transport, rig: Rig, usageRequestId: string) {
  const { url, api } = rig.servers.at(-1) ?? rig.server();
  const headers = { ...api.authorization, 'content-type': 'application/json' };
  const body = JSON.stringify({ apiIntegrationId: 'text', message: 'Say it.', usageRequestId });
  let text = '';
  const reading = transport({ url: `${url}/get_completion_v2`, headers, body }, (piece) => {
    text += piece;
  });
  return { isWhole: await within('end of an answer', WAIT_MS, reading), text };
}

/** Sends these words to a run that some clients read already, and to one more reader. */
async function say(rig: Rig, usageRequestId: string, words: readonly string[], readers: number) {
  const call = await within('call of the model', WAIT_MS, rig.model.nextCall());
  const reader = await rig.api().complete({ apiIntegrationId: 'text', message: 'Say it.', usageRequestId });
  await until('all readers', async () => (await rig.server().probe()).openStreams > readers, { pauseMs: 5 });
  for (const word of words) await call.text(word);
  await arrives(`${usageRequestId}: text`, reader, ({ text }) => text === words.join(''));
  return { call, reader };
}

/** One end after so many words, read live and again, by every client. */
async function end(rig: Rig, end: (typeof ENDS)[number], words: readonly string[]) {
  const what = `${end} after ${words.length} words`;
  const live = read(byCurl, rig, what);
  const { call, reader } = await say(rig, what, words, 1);
  expectEqual(`${what}: content type`, reader.headers['content-type'], 'text/plain; charset=utf-8');
  const runId = String(reader.headers['x-run-id']);
  if (end === 'failed') await call.fail('model_error', 'The model broke.');
  else if (end === 'completed') await call.end();
  else {
    const { body: cancelled } = await rig.api().post(`/v2/integrations/text/runs/${runId}/cancel`);
    expectEqual(`${what}: status`, cancelled.status, 'cancelled');
  }
  const isWhole = await within(`${what}: end`, WAIT_MS, reader.over);
  const readings = [await live, { text: reader.text, isWhole }];
  for (const transport of TRANSPORTS) readings.push(await read(transport, rig, what));
  const events = await rig.api().events(runId, null, 'text');
  await within(`${what}: events`, WAIT_MS, events.over);
  const isNormal = end === 'completed';
  for (const reading of [{ text: events.answer, isWhole: isNormal }, ...readings]) {
    expectEqual(`${what}: text`, reading.text, words.join(''));
    expectEqual(`${what}: normal ends`, Number(reading.isWhole), Number(isNormal));
  }
  return { equal: readings.length, [isNormal ? 'normal_ends' : 'abnormal_ends']: readings.length };
}

/** Text that was read but not stored is never sent again after a crash: the run continues, or it had its last attempt. */
async function crash(fault: string | null, continues: boolean) {
  await using rig = await start(fault, { flushMs: 600_000 });
  const readings = TRANSPORTS.map((transport) => read(transport, rig, 'void'));
  await say(rig, 'void', WORDS, readings.length);
  await rig.server().kill();
  const cut = await Promise.all(readings);
  expectEqual('normal ends by a crash', cut.filter(({ isWhole }) => isWhole).length, 0);
  rig.model.answerAll(...ANEW);
  await rig.add({ limits: continues ? {} : { maxAttempts: 1 } });
  const expected = { isWhole: continues, text: continues ? ANEW.join('') : '' };
  for (const transport of TRANSPORTS) expectEqual('text after the crash', await read(transport, rig, 'void'), expected);
  const again = TRANSPORTS.length;
  return { void_ends: cut.length + (continues ? 0 : again), anew: continues ? again : 0 };
}

test('Text Only Mode ends normally only if the run completed', async () => {
  const fault = plantedFault();
  const rounds = scale(1, 10);
  const counts = { equal: 0, normal_ends: 0, abnormal_ends: 0, void_ends: 0, anew: 0 };
  for (let round = 0; round < rounds; round += 1) {
    await using rig = await start(fault);
    for (const way of ENDS) {
      for (let words = 0; words <= WORDS.length; words += 1) addTo(counts, await end(rig, way, WORDS.slice(0, words)));
    }
    for (const continues of [false, true]) addTo(counts, await crash(fault, continues));
  }
  count({ rounds, ...counts });
});
