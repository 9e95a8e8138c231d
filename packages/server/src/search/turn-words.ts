import { nextPortion } from '@runwire/lib/next-portion.ts';
import { type CollectedWords, WordCollector } from '../domain/search/word-collector.ts';
import { type JsonRows, jsonRows } from '../store/queries/file-batches.ts';
import {
  type SizedTurn,
  type Turn,
  type TurnRecord,
  turnRecords,
  turnTexts,
  type WaitingTurn,
} from '../store/queries/search-index.ts';
import type { Reads } from '../store/store.ts';

export interface TurnWords extends CollectedWords, Turn {}

/** Turns whose words are read together: so many bytes of texts, and turns. 20 000 characters can have 4000 words: 7 ms. */
const PART_BYTES = 32_768;
const PART_TURNS = 96;

/** Turns whose words are read together. */
export const nextPart = (turns: readonly SizedTurn[]): SizedTurn[] => nextPortion(turns, PART_BYTES, PART_TURNS);

export const turnRows = (turns: readonly WaitingTurn[]): JsonRows =>
  jsonRows(turns.map(({ run_id: run, chat_key: chat }) => ({ run, chat })));

/** Reads the words in messages, answers, tool names and errors. Turns of deleted chats are left out. `turns`: `turnRows`. */
export async function readTurnWords(reads: Reads, turns: JsonRows): Promise<TurnWords[]> {
  const [rows, records] = await Promise.all([reads.all(turnTexts, { turns }), reads.all(turnRecords, { turns })]);
  const byTurn = records.length === 0 ? null : Map.groupBy(records, (record) => record.run_id);
  const collector = new WordCollector();
  const found: TurnWords[] = [];
  for (const row of rows) {
    const { run_id, chat_key, message_json: message, answer_json: answer, integration_id: integrationId } = row;
    if (message === null || integrationId === null) continue;
    collector.begin(integrationId);
    collector.addJson(message);
    if (answer !== null) collector.addJson(answer);
    if (row.tools !== null) collector.addText(row.tools);
    if (row.error_message !== null) collector.addText(row.error_message);
    for (const record of byTurn?.get(run_id) ?? []) collector.addText(recordText(record));
    found.push({ run_id, chat_key, ...collector.end() });
  }
  return found;
}

interface QuestionJson {
  readonly tool: string;
}

interface StepJson {
  /** Set if the call gave no result. */
  readonly error?: { readonly message: string } | null;
  readonly output?: readonly { readonly text?: string }[];
}

function recordText({ source, json }: TurnRecord): string {
  if (source === 'question') return (JSON.parse(json) as QuestionJson).tool;
  const { output = [], error } = JSON.parse(json) as StepJson;
  // A failed call's output is the error text that the model got.
  return source === 'unfinished' ? (error?.message ?? '') : (output[0]?.text ?? '');
}
