import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiClient, type ModelCall, ModelController, TEST_API_KEY } from '@runwire/test-kit';
import { DataFolder } from './support/data-folder.ts';
import { expectEqual, expectNumber, type Proof, within } from './support/proof.ts';
import { startServer } from './support/start-server.ts';

const WAIT_MS = 60_000;
const CURL_PARTIAL = 18;
const WORDS = ['Grüße', ', 你好 ', '😀', '\n\n', 'id: 1\ndata: no frame\n\n', 'and the end.'];
/** What the model says when it is asked again after a crash. */
const ANEW = ['Noch ', 'einmal: 😀'];
const ENDS = ['completed', 'failed', 'cancelled'] as const;
type End = (typeof ENDS)[number];

interface Reading {
  readonly text: string;
  readonly endedWell: boolean;
}

const headers = { authorization: `Bearer ${TEST_API_KEY}`, 'content-type': 'application/json' };

async function byFetch(url: string, body: object): Promise<Reading> {
  const answer = await fetch(`${url}/get_completion_v2`, { method: 'POST', headers, body: JSON.stringify(body) });
  expectEqual('content type of the text', answer.headers.get('content-type'), 'text/plain; charset=utf-8');
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of answer.body ?? []) text += decoder.decode(chunk, { stream: true });
    return { text, endedWell: true };
  } catch {
    return { text, endedWell: false };
  }
}

function byCurl(url: string, body: object): Promise<Reading> {
  const given = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const child = spawn('curl', ['-sN', `${url}/get_completion_v2`, ...given, '-d', JSON.stringify(body)]);
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code !== 0 && code !== CURL_PARTIAL) reject(new Error(`curl ended with ${code}`));
      resolve({ text: Buffer.concat(chunks).toString(), endedWell: code === 0 });
    });
  });
}

/** The answer as the run's log tells it. */
async function logText(api: ApiClient, runId: string): Promise<string> {
  const reader = await api.events(runId, null, 'text');
  await within('end of the events', WAIT_MS, reader.over);
  return reader.answer;
}

async function finish(api: ApiClient, call: ModelCall, runId: string, end: End): Promise<void> {
  if (end === 'failed') await call.fail('model_error', 'The model broke.');
  else if (end === 'completed') await call.end();
  else {
    const { body } = await api.post(`/v2/integrations/text/runs/${runId}/cancel`);
    expectEqual('status after the cancel', body.status, 'cancelled');
  }
}

function check(what: string, readings: readonly Reading[], log: string, end: End): number {
  for (const { text, endedWell } of readings) {
    expectEqual(`${what}: text`, text, log);
    expectNumber(`${what}: normal ends`, Number(endedWell), Number(end === 'completed'));
  }
  return readings.length;
}

/** Every end after every count of words, read live and again, by both clients. */
async function everyEnd(fault: string | null) {
  using folder = new DataFolder();
  await using model = await ModelController.start();
  await using server = await startServer(fault, { dataDir: folder.path, controllerPort: model.port });
  const { api, url } = server;
  await api.post('/v2/integrations', { apiIntegrationId: 'text', textOnly: true });
  const counts = { equal: 0, normal_ends: 0, abnormal_ends: 0 };
  for (const end of ENDS) {
    for (let words = 0; words <= WORDS.length; words += 1) {
      const body = { apiIntegrationId: 'text', message: 'Say it.', usageRequestId: `${end}-${words}` };
      const live = byCurl(url, body);
      const call = await within('call of the model', WAIT_MS, model.nextCall());
      const reader = await api.complete(body);
      const said = WORDS.slice(0, words);
      const runId = String(reader.headers['x-run-id']);
      for (const word of said) await call.text(word);
      await within(
        'text before the end',
        WAIT_MS,
        reader.until(({ text }) => text === said.join('')),
      );
      await finish(api, call, runId, end);
      const endedWell = await within('end of a reader', WAIT_MS, reader.over);
      const readings = [
        await within('end of curl', WAIT_MS, live),
        { text: reader.text, endedWell },
        await within('replay by curl', WAIT_MS, byCurl(url, body)),
        await within('replay by fetch', WAIT_MS, byFetch(url, body)),
      ];
      const log = await logText(api, runId);
      expectEqual(`${end} after ${words} words: text of the log`, log, said.join(''));
      counts.equal += check(`${end} after ${words} words`, readings, log, end);
      counts[end === 'completed' ? 'normal_ends' : 'abnormal_ends'] += readings.length;
    }
  }
  return counts;
}

/**
 * Text that was read, and that nobody has any more after the crash: nobody is sent it again. A run that goes on is read
 * as if it had said nothing but what counts; one whose server died too often has nothing to say.
 */
async function voidText(fault: string | null, goesOn: boolean) {
  using folder = new DataFolder();
  await using model = await ModelController.start();
  // Nothing is stored before the crash: every word that was read is void after it.
  const options = { dataDir: folder.path, controllerPort: model.port };
  const body = { apiIntegrationId: 'text', message: 'Say it.', usageRequestId: 'void' };
  let ends: readonly Reading[];
  {
    await using doomed = await startServer(fault, { ...options, limits: { flushMs: 600_000 } });
    await doomed.api.post('/v2/integrations', { apiIntegrationId: 'text', textOnly: true });
    const readings = [byCurl(doomed.url, body), byFetch(doomed.url, body)];
    const call = await within('call of the model', WAIT_MS, model.nextCall());
    const reader = await doomed.api.complete(body);
    const attached = async () => {
      while ((await doomed.probe()).openStreams < readings.length + 1) await sleep(20);
    };
    await within('three readers', WAIT_MS, attached());
    for (const word of WORDS) await call.text(word);
    await within(
      'text before the crash',
      WAIT_MS,
      reader.until(({ text }) => text === WORDS.join('')),
    );
    await doomed.kill('SIGKILL');
    ends = await within('ends by the crash', WAIT_MS, Promise.all(readings));
  }
  expectNumber('normal ends by a crash', ends.filter(({ endedWell }) => endedWell).length, 0);
  model.answerAll(...ANEW);
  await using server = await startServer(fault, { ...options, limits: goesOn ? {} : { maxAttempts: 1 } });
  const again = [await byCurl(server.url, body), await byFetch(server.url, body)];
  const normalEnds = again.filter(({ endedWell }) => endedWell).length;
  expectNumber('normal ends after the crash', normalEnds, goesOn ? again.length : 0);
  for (const { text } of again) expectEqual('text after the crash', text, goesOn ? ANEW.join('') : '');
  return { void_ends: ends.length + (goesOn ? 0 : again.length), anew: goesOn ? again.length : 0 };
}

export const proof: Proof = {
  name: 'text-mode',
  minutes: 1.5,
  faults: {
    'hide-failures': /^failed after 0 words: normal ends: expected 0, found 1\.$/m,
  },
  figures: (scale) => {
    const rounds = scale(1, 10);
    return {
      rounds,
      equal: 84 * rounds,
      normal_ends: 28 * rounds,
      abnormal_ends: 56 * rounds,
      void_ends: 6 * rounds,
      anew: 2 * rounds,
    };
  },
  async run({ fault, scale }) {
    const short = scale(true, false);
    const rounds = short ? 1 : 10;
    const counts = { equal: 0, normal_ends: 0, abnormal_ends: 0, void_ends: 0, anew: 0 };
    for (let round = 0; round < rounds; round += 1) {
      const none = { equal: 0, normal_ends: 0, abnormal_ends: 0, void_ends: 0, anew: 0 };
      for (const part of [await everyEnd(fault), await voidText(fault, false), await voidText(fault, true)]) {
        const found = { ...none, ...part };
        for (const key of Object.keys(counts) as (keyof typeof counts)[]) counts[key] += found[key];
      }
    }
    return { rounds, ...counts };
  },
};
