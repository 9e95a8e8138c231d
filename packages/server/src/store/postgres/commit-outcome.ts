import { setTimeout as sleep } from 'node:timers/promises';
import { withTimeout } from '@runwire/lib/with-timeout.ts';
import { Client, DatabaseError } from 'pg';
import { CommitUnknown, StoreUnavailable } from '../../domain/unavailable.ts';
import type { CommitEvidence } from './commit-marks.ts';
import { translate, wasRefused } from './errors.ts';
import { type PostgresSettings, sessionConfig } from './settings.ts';

const LOOK_FOR_MS = 5000;
const LOOK_EVERY_MS = 100;
const LOOK_LATER_EVERY_MS = 1000;

export type CommitOutcome = 'committed' | 'lost' | 'unknown';
/** Asks the database once. `unknown` means: ask again later. */
export type JudgeCommit = (client: Client, evidence: CommitEvidence) => Promise<CommitOutcome>;

/** Finds out what became of a transaction whose COMMIT was not answered. */
export class CommitOutcomes implements Disposable {
  readonly #settings: PostgresSettings;
  readonly #judge: JudgeCommit;
  readonly #lookForMs: number;
  readonly #closed = new AbortController();

  constructor(settings: PostgresSettings, judge: JudgeCommit = judgeCommit, lookForMs = LOOK_FOR_MS) {
    this.#settings = settings;
    this.#judge = judge;
    this.#lookForMs = lookForMs;
  }

  /**
   * Call it after COMMIT failed with `error` and the connection was given up. Returns if the transaction is committed.
   * Throws why it is not, or `CommitUnknown` if the database does not answer within 5 s.
   */
  async settle(evidence: CommitEvidence, error: unknown): Promise<void> {
    if (wasRefused(error)) throw translate(error);
    const outcome = await this.#look(evidence, this.#lookForMs, LOOK_EVERY_MS);
    if (outcome === 'committed') return;
    if (outcome === 'lost') throw new StoreUnavailable('The connection to the database was lost before the commit.');
    throw new CommitUnknown(
      this.#look(evidence, Number.POSITIVE_INFINITY, LOOK_LATER_EVERY_MS).then((o) => o === 'committed'),
    );
  }

  async #look(evidence: CommitEvidence, forMs: number, everyMs: number): Promise<CommitOutcome> {
    const until = performance.now() + forMs;
    while (!this.#closed.signal.aborted) {
      const outcome = await this.#ask(evidence, Math.max(0, until - performance.now()));
      if (outcome !== 'unknown') return outcome;
      if (performance.now() + everyMs > until) return 'unknown';
      await sleep(everyMs, undefined, { signal: this.#closed.signal }).catch(() => {});
    }
    return 'unknown';
  }

  /** Uses a new connection, because all others may be broken too. */
  async #ask(evidence: CommitEvidence, withinMs: number): Promise<CommitOutcome> {
    const client = new Client(sessionConfig(this.#settings));
    client.on('error', () => {});
    const answer = this.#answer(client, evidence);
    try {
      // Connecting and answering can each take seconds.
      return withinMs === Number.POSITIVE_INFINITY
        ? await answer
        : await withTimeout(answer, withinMs, () => 'unknown');
    } finally {
      client.end().catch(() => {});
    }
  }

  async #answer(client: Client, evidence: CommitEvidence): Promise<CommitOutcome> {
    try {
      await client.connect();
      return await this.#judge(client, evidence);
    } catch {
      return 'unknown';
    }
  }

  [Symbol.dispose](): void {
    this.#closed.abort();
  }
}

/**
 * Judges by what the transaction itself wrote. `pg_xact_status` alone is no evidence: after a crash PostgreSQL gives an id
 * whose WAL was not flushed to another transaction, and then reports the status of that one.
 *
 *   mark present                        → committed
 *   mark absent, id in progress         → unknown: the server has not noticed yet that the connection is lost, or
 *                                         another transaction has the id; ask again until it has ended
 *   mark absent, read after the id ended → lost
 */
export const judgeCommit: JudgeCommit = async (client, evidence) => {
  if (await isMarked(client, evidence)) return 'committed';
  // A replica that is about to lead may not have replayed the transaction yet.
  if ((await isReplica(client)) || (await isInProgress(client, evidence))) return 'unknown';
  // This is a statement of its own: its snapshot is later than the transaction's end.
  return (await isMarked(client, evidence)) ? 'committed' : 'lost';
};

async function isMarked(client: Client, { mark }: CommitEvidence): Promise<boolean> {
  const { rowCount } = await client.query(
    'select 1 from commit_marks where process = $1 and connection = $2 and serial = $3',
    [mark.process, mark.connection, mark.serial],
  );
  return rowCount === 1;
}

async function isReplica(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ replica: boolean }>('select pg_is_in_recovery() as replica');
  return rows[0]?.replica !== false;
}

const INVALID_PARAMETER = '22023';

async function isInProgress(client: Client, { xid }: CommitEvidence): Promise<boolean> {
  try {
    const { rows } = await client.query<{ status: string | null }>('select pg_xact_status($1::xid8) as status', [xid]);
    return rows[0]?.status === 'in progress';
  } catch (error) {
    // The id is in the future: the crash undid it and no transaction has it yet.
    if (error instanceof DatabaseError && error.code === INVALID_PARAMETER) return false;
    throw error;
  }
}
