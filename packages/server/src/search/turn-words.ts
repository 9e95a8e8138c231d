import { nextPortion } from '@runwire/lib/next-portion.ts';
import type { IntegrationId } from '../domain/ids.ts';
import { parseJsonStart } from '../domain/json-start.ts';
import { distinctWords } from '../domain/search/words.ts';
import { jsonRows } from '../store/queries/file-batches.ts';
import {
  type Turn,
  type TurnRecord,
  type TurnTexts,
  turnRecords,
  turnSizes,
  turnTexts,
} from '../store/queries/search-index.ts';
import type { Reads } from '../store/store.ts';

export interface TurnWords {
  readonly turn: Turn;
  readonly integrationId: IntegrationId;
  readonly words: ReadonlySet<string>;
}

/** Turns whose words are read together: so many bytes of texts, and turns. 20 000 characters can have 4000 words: 7 ms. */
const PART_BYTES = 32_768;
const PART_TURNS = 32;

/** Splits at most some hundred turns into parts whose words are read together. */
export async function splitTurns(reads: Reads, turns: readonly Turn[]): Promise<Turn[][]> {
  const sizes = turns.length < 2 ? [] : await reads.all(turnSizes, { turns: toRows(turns) });
  let rest = turns.map((turn, index) => ({ ...turn, bytes: sizes[index]?.bytes ?? 0 }));
  const parts: Turn[][] = [];
  while (rest.length > 0) {
    const part = nextPortion(rest, PART_BYTES, PART_TURNS);
    parts.push(part);
    rest = rest.slice(part.length);
  }
  return parts;
}

const toRows = (turns: readonly Turn[]) => jsonRows(turns.map(({ run_id: run, chat_key: chat }) => ({ run, chat })));

/** Reads the words in messages, answers, tool names and errors. Turns of deleted chats are left out. */
export async function readTurnWords(reads: Reads, turns: readonly Turn[]): Promise<TurnWords[]> {
  if (turns.length === 0) return [];
  const pairs = { turns: toRows(turns) };
  const [rows, records] = await Promise.all([reads.all(turnTexts, pairs), reads.all(turnRecords, pairs)]);
  const byTurn = Map.groupBy(records, (record) => record.run_id);
  return rows.flatMap((row) => {
    const { message_json: message, integration_id: integrationId } = row;
    if (message === null || integrationId === null) return [];
    const more = byTurn.get(row.run_id)?.flatMap(recordTexts) ?? [];
    return [{ turn: row, integrationId, words: distinctWords([...listTexts(row), ...more]) }];
  });
}

const listTexts = ({
  message_json: message,
  answer_json: answer,
  tools,
  error_message: error,
}: TurnTexts): string[] => [
  ...[message, answer].flatMap((json) => (json === null ? [] : [parseJsonStart(json)])),
  ...[tools, error].filter((text) => text !== null),
];

interface QuestionJson {
  readonly tool: string;
}

interface StepJson {
  /** Set if the call gave no result. */
  readonly error?: { readonly message: string } | null;
  readonly output?: readonly { readonly text?: string }[];
}

function recordTexts({ source, json }: TurnRecord): string[] {
  if (source === 'question') return [(JSON.parse(json) as QuestionJson).tool];
  const { output = [], error } = JSON.parse(json) as StepJson;
  // A failed call's output is the error text that the model got.
  return [source === 'unfinished' ? (error?.message ?? '') : (output[0]?.text ?? '')];
}
