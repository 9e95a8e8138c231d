import { freshDatabase, ModelController } from '@runwire/test-kit';
import { missingService } from '../test/support/services.ts';
import { DataFolder } from './support/data-folder.ts';
import { type MakeSubject, PAIR_SUBJECTS, PairStage, QUOTA_BYTES } from './support/pair-subjects.ts';
import { expectNumber, LeftOut, type Proof, within } from './support/proof.ts';
import { startServer } from './support/start-server.ts';

/*
 * Runs every two operations on one member, chat, integration, owner or file. First it runs both orders, one operation
 * after the other, each on a fresh subject. Then it sends the two concurrently, each round on a fresh subject. The outcome,
 * both answers and what is read afterwards, must equal the outcome of one of the two orders.
 */

const ROUNDS = 50;
const WAIT_MS = 60_000;
/** Rounds of one pair that run concurrently, on subjects of their own. */
const CONCURRENT = 8;
const SHOWN = 5;

/** The short form has one pair of each way in which two operations can meet. */
const SHORT_ROUNDS = 3;
const SHORT_PAIRS: readonly (readonly [string, string, string])[] = [
  ['new member', 'put name', 'put inactive'],
  ['member', 'complete', 'complete elsewhere'],
  ['new chat', 'create', 'complete by both'],
  ['idle chat', 'complete', 'delete'],
  ['integration', 'patch name', 'patch text'],
  ['integration', 'complete', 'delete'],
  ['owner', 'revoke first', 'revoke second by first'],
  ['file', 'delete', 'delete folder'],
  ['quota', 'sign a', 'sign b'],
];

interface Pair {
  readonly subject: string;
  readonly make: MakeSubject;
  readonly one: string;
  readonly other: string;
}

type Send = (one: () => Promise<unknown>, other: () => Promise<unknown>) => Promise<readonly [unknown, unknown]>;

const inOrder: Send = async (one, other) => [await one(), await other()];
const inReverse: Send = async (one, other) => {
  const second = await other();
  return [await one(), second];
};
const together: Send = (one, other) => Promise.all([one(), other()]);
const togetherReversed: Send = async (one, other) => {
  const second = other();
  return Promise.all([one(), second]);
};

/** Fields that are not compared: times, and values that differ in every answer. */
const LEFT_OUT =
  /^(createdAt|updatedAt|startedAt|completedAt|modifiedAt|lastUsedAt|expiresAt|lastEventId|cancelRequested|apiKey|uploadFields|uploadUrl|etag)$/;
const ID = /\b(?:run|chat|msg|key|own|int|form)_[0-9a-z]{26}\b/g;

const byText = (a: unknown, b: unknown) => {
  const [left, right] = [a, b].map((item) => JSON.stringify(item).replace(ID, ''));
  return (left ?? '') < (right ?? '') ? -1 : 1;
};

function settled(key: string, value: unknown): unknown {
  if (LEFT_OUT.test(key)) return undefined;
  // How far an active run has come depends on time.
  if (key === 'status' && (value === 'admitted' || value === 'running')) return 'active';
  if (key === 'items' && Array.isArray(value)) return value.toSorted(byText);
  return value;
}

/** Returns an outcome as text without what differs by chance: ids are numbered in the order in which they appear. */
function outcomeText(outcome: unknown, name: string): string {
  const numbers = new Map<string, string>();
  return JSON.stringify(outcome, settled)
    .replaceAll(name, 'NAME')
    .replaceAll(name.toUpperCase(), 'UPPER')
    .replace(ID, (id) => {
      const number = numbers.get(id) ?? `${id.slice(0, id.indexOf('_'))}#${numbers.size + 1}`;
      numbers.set(id, number);
      return number;
    });
}

/** Plays the rounds on the server of one store. */
class Rounds {
  readonly #stage: PairStage;
  #subjects = 0;

  constructor(stage: PairStage) {
    this.#stage = stage;
  }

  #name(): string {
    this.#subjects += 1;
    return `pair${this.#subjects}x`;
  }

  async operationsOf(make: MakeSubject): Promise<string[]> {
    const { operations, state } = await make(this.#stage, this.#name());
    await state();
    return Object.keys(operations);
  }

  async play({ subject, make, one, other }: Pair, send: Send): Promise<string> {
    const name = this.#name();
    const { operations, state } = await make(this.#stage, name);
    const missing = async () => {
      throw new Error(`The subject \`${subject}\` lacks an operation.`);
    };
    const answers = await send(operations[one] ?? missing, operations[other] ?? missing);
    return outcomeText([answers, await state()], name);
  }

  /** Resolves to the outcomes that are of neither order. */
  async race(pair: Pair, rounds: number): Promise<string[]> {
    const what = `${pair.subject}: ${pair.one}, ${pair.other}`;
    const allowed = [await this.play(pair, inOrder), await this.play(pair, inReverse)];
    const mixed: string[] = [];
    let next = 0;
    const work = async () => {
      for (let round = next; round < rounds; round = next) {
        next += 1;
        const found = await this.play(pair, round % 2 === 0 ? together : togetherReversed);
        if (!allowed.includes(found)) mixed.push(`${what}: found ${found}, expected ${allowed.join(' or ')}`);
      }
    };
    await within(what, WAIT_MS, Promise.all(Array.from({ length: CONCURRENT }, work)));
    return mixed;
  }
}

async function allPairs(
  rounds: Rounds,
  short: boolean,
): Promise<{ readonly pairs: Pair[]; readonly operations: number }> {
  const pairs: Pair[] = [];
  let operations = 0;
  for (const [subject, make] of Object.entries(PAIR_SUBJECTS)) {
    if (short && !SHORT_PAIRS.some((of) => of[0] === subject)) continue;
    const names = await rounds.operationsOf(make);
    operations += names.length;
    for (const [place, one] of names.entries()) {
      for (const other of names.slice(place)) {
        const isShort = SHORT_PAIRS.some((of) => of[0] === subject && of.includes(one, 1) && of.includes(other, 1));
        if (!short || (isShort && one !== other)) pairs.push({ subject, make, one, other });
      }
    }
  }
  return { pairs, operations };
}

export const proof: Proof = {
  name: 'pairs',
  minutes: 9,
  faults: {
    'read-then-write': /^mixed outcomes on the embedded store: expected 0, found [1-9]\d*\.$/m,
  },
  async run({ fault, scale }) {
    const short = scale(true, false);
    const missing = await missingService('postgres');
    if (missing !== null) throw new LeftOut(missing);
    const perPair = short ? SHORT_ROUNDS : ROUNDS;
    const figures = { stores: 0, operations: 0, pairs: 0, rounds: perPair };
    const mixed: string[] = [];
    await using database = await freshDatabase();
    for (const env of [{}, { DATABASE_URL: database.url }]) {
      using folder = new DataFolder();
      await using model = await ModelController.start();
      await using server = await startServer(fault, {
        dataDir: folder.path,
        controllerPort: model.port,
        env: { ...env, RUNWIRE_MOUNT_QUOTA_BYTES: String(QUOTA_BYTES) },
      });
      const rounds = new Rounds(new PairStage(server.api, model));
      const { pairs, operations } = await allPairs(rounds, short);
      for (const pair of pairs) mixed.push(...(await rounds.race(pair, perPair)));
      Object.assign(figures, { stores: figures.stores + 1, operations, pairs: pairs.length });
      const store = 'DATABASE_URL' in env ? 'PostgreSQL' : 'the embedded store';
      process.stdout.write(`${pairs.length} pairs on ${store}\n`);
      for (const one of mixed.slice(0, SHOWN)) process.stderr.write(`${one}\n`);
      expectNumber(`mixed outcomes on ${store}`, mixed.length, 0);
    }
    return { ...figures, mixed: mixed.length };
  },
};
