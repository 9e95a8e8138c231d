import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Crash, Followed } from '@runwire/test-kit';
import { CommitCrashes, HOLD, PATH, WAIT_MS } from './support/commit-crashes.ts';
import { expectAtLeast, expectNumber, type Proof, within } from './support/proof.ts';

/*
 * A proxy sees the COMMIT of a server's transaction. Instead of forwarding it, or after the database has committed, it
 * crashes PostgreSQL and lets other transactions use the ids that the crash undid. Then the server has to find out what
 * became of its transaction, and all its answers must be true.
 */

const WAYS: readonly Crash[] = ['postmaster', 'immediate', 'backend'];
const ROUNDS = { lost: 20, durable: 4, underLoad: 5 };
const SHORT_ROUNDS = { lost: 1, durable: 0, underLoad: 0 };
const LOAD_CLIENTS = 4;

interface Case {
  readonly name: string;
  /** The statements that its transaction has, and the statements that it must not have. */
  readonly has: readonly string[];
  readonly hasNot?: readonly string[];
  /** Does what causes the COMMIT, and checks the result. `crash` arms the crash and resolves when the database is back. */
  readonly play: (stage: CommitCrashes, id: string, crash: () => Promise<void>) => Promise<void>;
}

const ENDS_OF_RUNS = ['insert run', 'insert step', 'finish run', 'take run'];

const CASES: readonly Case[] = [
  { name: 'admission', has: ['insert run'], play: playRun },
  { name: 'flush', has: ['insert chunk'], hasNot: ENDS_OF_RUNS, play: playFlush },
  { name: 'step', has: ['insert step'], hasNot: ['finish run'], play: playRun },
  { name: 'end', has: ['finish run'], hasNot: ['take run'], play: playRun },
  { name: 'cancel', has: ['request cancel'], play: playCancel },
  { name: 'takeover', has: ['take run'], play: playTakeover },
  { name: 'account', has: ['insert member', 'insert integration', 'insert key'], play: playAccount },
];

/** Plays a run from its admission to its end. The crash happens at one of its commits. */
async function playRun(stage: CommitCrashes, id: string, crash: () => Promise<void>): Promise<void> {
  const crashed = crash();
  const reader = await stage.admitted(id);
  const followed = stage.follow(reader);
  await crashed;
  await stage.checkClaims();
  await stage.checkRun(await followed);
}

/** The model waits until a flush was interrupted: otherwise a step could store the same events before. */
async function playFlush(stage: CommitCrashes, id: string, crash: () => Promise<void>): Promise<void> {
  const crashed = crash();
  const reader = await stage.admitted(id, HOLD);
  const followed = stage.follow(reader);
  await crashed;
  stage.release(String(reader.headers['x-run-id']));
  await stage.checkRun(await followed);
}

async function playCancel(stage: CommitCrashes, id: string, crash: () => Promise<void>): Promise<void> {
  const reader = await stage.admitted(id, HOLD);
  const followed = stage.follow(reader);
  await within('text of a held run', WAIT_MS, reader.untilText('Held. '));
  const crashed = crash();
  const runId = String(reader.headers['x-run-id']);
  const cancel = () => stage.main.api.post(`${PATH}/runs/${runId}/cancel`);
  const intents = () =>
    stage.query('select 1 from runs where run_id = $1 and cancel_requested_at is not null', [runId]);
  stage.found.lost += await missingAfter('cancel', cancel, crashed, intents);
  await stage.checkRun(await followed, 'cancelled');
}

/** The node of a run dies, and the crash happens when another node takes the run over. */
async function playTakeover(stage: CommitCrashes, id: string, crash: () => Promise<void>): Promise<void> {
  const doomed = await stage.startAnother();
  const reader = await stage.admitted(id, HOLD, doomed.api);
  await within('text of a held run', WAIT_MS, reader.untilText('Held. '));
  const followed = stage.follow(reader);
  const runId = String(reader.headers['x-run-id']);
  const crashed = crash();
  await doomed.kill();
  stage.release(runId);
  await crashed;
  await stage.checkRun(await followed);
  // Three calls: the call that was held when its node died, the same call again, and the call after the tool.
  stage.found.lost += expectNumber('lost: model calls beyond those of one takeover', stage.callsOf(runId) - 3, 0);
}

async function playAccount(stage: CommitCrashes, id: string, crash: () => Promise<void>): Promise<void> {
  const { api } = stage.main;
  const operations = [
    {
      change: () => api.put(`${PATH}/members/${id}`, { name: id }),
      stored: () => stage.query('select 1 from members where consumer_id = $1', [id]),
    },
    {
      change: () => api.post('/v2/integrations', { apiIntegrationId: id, agency: 'gate' }),
      stored: () => stage.query('select 1 from integrations where integration_id = $1', [id]),
    },
    {
      change: () => api.post('/v2/api_keys', { name: id }),
      stored: () => stage.query('select 1 from api_keys where name_json = $1', [JSON.stringify(id)]),
    },
  ];
  // Every operation is combined with every way to crash.
  const turn = Math.floor(stage.crashes / WAYS.length);
  const operation = operations[turn % operations.length] as (typeof operations)[number];
  stage.found.lost += await missingAfter('account change', operation.change, crash(), operation.stored);
}

/** Repeats a change until it is acknowledged. Then the database must have it. Resolves to how many are missing: 0. */
async function missingAfter(
  what: string,
  ask: () => Promise<Answer>,
  crashed: Promise<void>,
  stored: () => Promise<readonly unknown[]>,
): Promise<number> {
  const untilDone = async () => {
    for (;;) {
      const { status } = await ask();
      // 409: the answer to an earlier attempt was lost, but its change is stored.
      if (status < 300 || status === 409) return crashed;
      expectNumber(`status of a refused ${what}`, status, 503);
      await sleep(200);
    }
  };
  await within(what, WAIT_MS, untilDone());
  return expectNumber(`lost: acknowledged ${what} missing from the database`, (await stored()).length > 0 ? 0 : 1, 0);
}

/** Runs `work` while clients post without a pause; then checks every answer and every stream that they got. */
async function underLoad(stage: CommitCrashes, id: string, work: () => Promise<void>): Promise<void> {
  const streams: Promise<Followed>[] = [];
  let isLoading = true;
  const client = async (who: number) => {
    for (let turn = 0; isLoading; turn += 1) {
      streams.push(stage.follow(await stage.admitted(`load-${id}-${who}-${turn}`)));
      await streams.at(-1)?.catch(() => {});
    }
  };
  const clients = Array.from({ length: LOAD_CLIENTS }, (_, who) => client(who));
  try {
    await work();
  } finally {
    isLoading = false;
    await Promise.allSettled(clients);
  }
  await Promise.all(clients);
  await stage.checkClaims();
  for (const followed of await Promise.all(streams)) await stage.checkRun(followed);
}

async function round(stage: CommitCrashes, one: Case, place: number, rounds: typeof ROUNDS): Promise<void> {
  const id = `${one.name}-${place}`;
  const way = WAYS[stage.crashes % WAYS.length] as Crash;
  const moment = place < rounds.lost ? 'before' : 'after';
  const matches = (said: string) =>
    one.has.some((name) => said.includes(name)) && !(one.hasNot ?? []).some((name) => said.includes(name));
  const play = () => one.play(stage, id, () => stage.crashAt({ what: id, matches, way, moment }));
  if (place >= rounds.underLoad) await play();
  else await underLoad(stage, id, play);
}

export const proof: Proof = {
  name: 'lost-commit',
  minutes: 6,
  faults: {
    'trust-xid': /^(header `true` without a run|lost: .*|stuck: .*|holes: .*): expected \d+, found \d+\.$/m,
  },
  async run({ fault, scale }) {
    const short = scale(true, false);
    const rounds = short ? SHORT_ROUNDS : ROUNDS;
    await using stage = await CommitCrashes.start(fault);
    for (const one of CASES) {
      for (let place = 0; place < rounds.lost + rounds.durable; place += 1) {
        await round(stage, one, place, rounds);
      }
    }
    await stage.checkClaims();
    await stage.checkActive();
    return {
      commits: CASES.length,
      crashes: expectNumber('crashes', stage.crashes, CASES.length * (rounds.lost + rounds.durable)),
      under_load: CASES.length * rounds.underLoad,
      ids_reused: expectAtLeast('crashes after which the id was used again', stage.reused, 1),
      requests: stage.claims.size,
      refused: expectAtLeast('lost admissions that were refused', stage.claims.count('false'), 1),
      unknown: stage.claims.count('none'),
      runs: stage.runs,
      ...stage.found,
    };
  },
};
