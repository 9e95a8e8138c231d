import { request } from 'node:http';
import { test } from 'node:test';
import { operations } from '@runwire/contract/schemas';
import { type ApiClient, Rig } from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { expectAtMost, expectEqual, named, within } from '@runwire/test-kit/shortfall.ts';
import { type LoopSizes, seedLoop } from './support/loop-stage.ts';
import { LOOP_TABLE, type LoopRequest } from './support/loop-table.ts';

/*
 * Calls every operation of the API at ten times the usual sizes, and measures how long one turn of the server's event loop
 * is. During a turn nothing else happens. It is measured in CPU time of the main thread, so a busy machine changes little.
 */

const LIMIT_MS = 200;
const WAIT_MS = 300_000;

const FULL: LoopSizes = {
  runs: 100_000,
  members: 10_000,
  chats: 10_000,
  messages: 2000,
  steps: 500,
  files: 5000,
  accounts: 1000,
  adjustments: 10_000,
  answerCharacters: 1_000_000,
  readers: 200,
  messageCharacters: 1_000_000,
  fileBytes: 20_000_000,
};
/** The usual sizes, except for what a planted fault has to make long. */
const SHORT: LoopSizes = {
  runs: 5000,
  members: 300,
  chats: 300,
  messages: 200,
  steps: 50,
  files: 300,
  accounts: 200,
  adjustments: 300,
  answerCharacters: 50_000,
  readers: 10,
  messageCharacters: 100_000,
  fileBytes: 1_000_000,
};

/** Sends a request and discards the answer's body. Resolves to the status. */
function send({ url, authorization }: ApiClient, { method = 'GET', path, body }: LoopRequest): Promise<number> {
  const headers = { ...authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
  return new Promise((resolve, reject) => {
    const sent = request(url + path, { method, headers, agent: false }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0)).on('error', reject);
    });
    sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Sends one operation's requests, one group after the other. */
async function call(api: ApiClient, requests: readonly LoopRequest[]): Promise<void> {
  for (const one of requests) {
    const answers = Array.from({ length: one.times ?? 1 }, () => send(api, one));
    const statuses = new Set(await within('answers', WAIT_MS, Promise.all(answers)));
    expectEqual(`status of ${one.method ?? 'GET'} ${one.path}`, [...statuses], [one.status ?? 200]);
  }
}

test('no operation holds the event loop for 200 ms of CPU', async () => {
  const fault = plantedFault();
  await using rig = await Rig.start({ fault });
  const stage = await seedLoop(rig, scale(SHORT, FULL));
  const figures: Record<string, number> = {};
  const server = rig.server();
  for (const [operationId, requests] of Object.entries(LOOP_TABLE)) {
    await server.longestTurnMs();
    await named(operationId, call(stage.api, requests(stage)));
    figures[`longest_ms_${operationId}`] = Math.round(await server.longestTurnMs());
  }
  const missing = Object.keys(operations).filter((operationId) => figures[`longest_ms_${operationId}`] === undefined);
  expectEqual('operations without a figure', missing, []);
  const longest = Object.entries(figures).toSorted(([, a], [, b]) => b - a);
  const [[key, ms] = ['', 0]] = longest;
  const sentence = `${key.replace('longest_ms_', '')}: longest turn of the event loop in ms of CPU`;
  expectAtMost(sentence, ms, LIMIT_MS);
  count({ operations: longest.length, longest_ms: ms, ...figures });
});
