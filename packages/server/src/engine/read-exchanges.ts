import type { Exchange } from '../agent/team.ts';
import type { ChatKey, RunId } from '../domain/ids.ts';
import { stepOutcome } from '../runs/journal.ts';
import { delegationsOfChat } from '../store/queries/chats.ts';
import type { Reads } from '../store/store.ts';

/** How many of its newest exchanges with the sender the recipient of a message sees, besides those of the run. */
const MAX_EXCHANGES = 50;

/** The run whose agents remember, and what they look for. */
interface ExchangeQuery {
  readonly chatKey: ChatKey;
  readonly runId: RunId;
  readonly sender: string;
  readonly recipient: string;
  /** The position in the chat before which the exchanges were made. */
  readonly before: number;
}

/** Reads the exchanges of earlier runs of the chat, oldest first. Exchanges in `chain` count as the run's own. */
export async function readExchanges(
  reads: Reads,
  query: ExchangeQuery,
  chain: readonly string[],
): Promise<readonly Exchange[]> {
  const rows = await reads.all(delegationsOfChat, { ...query, limit: MAX_EXCHANGES });
  return rows.reverse().flatMap(({ run_id: ofRun, record_json: recordJson }): Exchange[] => {
    if (chain.includes(ofRun)) return [];
    const { asked, output } = stepOutcome(recordJson);
    if (asked === undefined) return [];
    return [{ message: asked.message, answer: output[0]?.text ?? '', answeredAt: output[0]?.timestamp ?? 0 }];
  });
}
