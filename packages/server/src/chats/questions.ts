import { parseOwnJson } from '@runwire/lib/strict-json.ts';
import { wholeIntegration } from '../domain/account/scope.ts';
import type { ChatId, IntegrationId } from '../domain/ids.ts';
import type { ClientTool } from '../domain/question/client-tool.ts';
import type { Question, StoredAnswer } from '../domain/question/question.ts';
import { approvalJson, parseQuestions, questionJson } from '../domain/question/question-json.ts';
import { parseExtras } from '../domain/run/run-extras.ts';
import { iso } from '../domain/time.ts';
import type { LargeListQuery, LargePages } from '../store/large-pages.ts';
import {
  listQuestions,
  type QuestionOwner,
  type QuestionRow,
  type QuestionState,
  questionSizes,
} from '../store/queries/question-list.ts';
import { runExtras } from '../store/queries/runs.ts';
import { first, type Reads } from '../store/store.ts';
import { chatRow } from './chats.ts';

export interface QuestionQuery extends LargeListQuery, QuestionOwner {
  readonly state?: QuestionState;
}

/** What a request with answers has of the request whose run asked. */
export interface AskingRequest {
  readonly chatId: ChatId;
  readonly consumerId: string | null;
  readonly clientTools: readonly ClientTool[];
  readonly instructions: string | null;
}

/** The questions of all chats. */
export class Questions {
  readonly #reads: Reads;
  readonly #pages: LargePages;

  constructor(reads: Reads, pages: LargePages) {
    this.#reads = reads;
    this.#pages = pages;
  }

  list(query: QuestionQuery) {
    const { state = 'open' } = query;
    return this.#pages.read(query, {
      // The arguments are written without the escapes that they are stored with.
      showsAll: false,
      sizes: (page) => this.#reads.query(questionSizes(query, state, page)),
      rows: (page) => this.#reads.query(listQuestions(query, state, page)),
      position: (row) => ({ createdAt: row.asked_at, id: row.question_id }),
      show: questionItem,
    });
  }

  /** Throws `chat_not_found`. If no question is open, there are neither tools nor instructions. */
  async askingRequest(integrationId: IntegrationId, requested: string): Promise<AskingRequest> {
    const chat = await chatRow(this.#reads, wholeIntegration(integrationId), requested);
    const open = parseQuestions(chat.questions_json);
    const row = open === null ? undefined : await first(this.#reads.all(runExtras, { runId: open.runId }));
    const tools = row?.client_tools_json ?? null;
    return {
      chatId: chat.chat_id,
      consumerId: chat.consumer_id,
      clientTools: tools === null ? [] : (parseOwnJson(tools) as ClientTool[]),
      instructions: parseExtras(row?.extras_json ?? null).instructions,
    };
  }
}

function questionItem(row: QuestionRow): string {
  const { questionId, kind, tool, arguments: given, agent, editable, rememberable } = questionJson(toQuestion(row));
  const answer = row.answer_json === null ? null : (JSON.parse(row.answer_json) as StoredAnswer);
  return JSON.stringify({
    questionId,
    kind,
    tool,
    arguments: given,
    // `JSON.stringify` omits undefined fields.
    editable,
    rememberable,
    agent,
    apiIntegrationId: row.integration_id,
    chatId: row.chat_id,
    consumerId: row.consumer_id,
    runId: row.run_id,
    askedAt: iso(row.asked_at),
    state: toState(row),
    decision: answer?.decision ?? null,
    reason: answer?.reason ?? null,
    ...approvalJson(answer),
    answeredBy: answer === null ? null : { ...answer.by, at: iso(row.settled_at) },
  });
}

function toState(row: QuestionRow): 'open' | 'answered' | 'unanswered' {
  if (row.is_open === 1) return 'open';
  return row.answer_json === null ? 'unanswered' : 'answered';
}

/** The question of an earlier version is only in its chat. */
function toQuestion({ question_id: id, question_json: json, chat_questions_json: ofChat }: QuestionRow): Question {
  if (json !== null) return JSON.parse(json) as Question;
  const found = parseQuestions(ofChat)?.questions.find(({ questionId }) => questionId === id);
  if (found === undefined) throw new Error(`The chat of the question ${id} does not have it.`);
  return found;
}
