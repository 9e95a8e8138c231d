import type { IntegrationId } from '../domain/ids.ts';
import { parseJsonStart } from '../domain/json-start.ts';
import { indexedWords, wordScope } from '../domain/search/words.ts';
import { jsonRows } from '../store/queries/file-batches.ts';
import { moreTools, type Turn, type TurnTexts, turnTexts } from '../store/queries/search-index.ts';
import type { Reads } from '../store/store.ts';

export interface TurnWords {
  readonly turn: Turn;
  readonly words: ReadonlySet<string>;
}

/** Reads the words of turns: of messages, answers, names of tools, and errors. Turns of deleted chats are left out. */
export async function readTurnWords(reads: Reads, turns: readonly Turn[]): Promise<TurnWords[]> {
  if (turns.length === 0) return [];
  const pairs = { turns: jsonRows(turns.map(({ run_id: run, chat_key: chat }) => ({ run, chat }))) };
  const [rows, more] = await Promise.all([reads.all(turnTexts, pairs), reads.all(moreTools, pairs)]);
  const tools = Map.groupBy(more, (row) => row.run_id);
  return rows.flatMap((row) => {
    const { message_json: message, integration_id: integrationId } = row;
    if (message === null || integrationId === null) return [];
    const names = tools.get(row.run_id)?.map(({ json }) => toolNames(json).join(' ')) ?? [];
    const scope = wordScope(integrationId as IntegrationId);
    return [{ turn: row, words: indexedWords(scope, [...listTexts(row), ...names]) }];
  });
}

const listTexts = ({ message_json: message, answer_json: answer, tools, error_message: error }: TurnTexts): string[] => [
  ...[message, answer].flatMap((json) => (json === null ? [] : [parseJsonStart(json)])),
  ...[tools, error].filter((text) => text !== null),
];

interface RecordJson {
  /** Of a question. */
  readonly tool?: string;
  /** Of a step. */
  readonly output?: readonly { readonly kind: string; readonly name?: string }[];
}

function toolNames(json: string): string[] {
  const { tool, output = [] } = JSON.parse(json) as RecordJson;
  const called = output.filter(({ kind }) => kind === 'tool_call').map(({ name }) => name);
  return [tool, ...called].filter((name) => name !== undefined);
}
