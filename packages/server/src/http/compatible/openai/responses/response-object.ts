import type { Usage } from '../../../../domain/model/usage.ts';
import type { Meta } from '../../../../domain/run/events.ts';
import type { RunEndStatus, RunError } from '../../../../domain/run/run-state.ts';

/** The part of an id after its prefix is the same for a run and its response. */
export const toResponseId = (runId: string): string => `resp_${runId.slice('run_'.length)}`;

/** Returns an id that no run has if the text is no id of a response. */
export const toRunId = (responseId: string): string =>
  responseId.startsWith('resp_') ? `run_${responseId.slice('resp_'.length)}` : '';

/** What the request sent and its response repeats; see `Meta.shown`. */
export interface ShownRequest {
  readonly instructions?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly previous_response_id?: string;
  readonly store?: false;
  readonly background?: true;
  readonly tools?: readonly unknown[];
  readonly tool_choice?: 'none';
  readonly text?: unknown;
  readonly safety_identifier?: string;
}

/** What only the caller's backend may see of a request. */
export const withoutSecrets = ({ instructions, metadata, text, ...rest }: ShownRequest): ShownRequest => rest;

/** Members of each response that do not depend on its request. Sampling is the agent's: these are the neutral values. */
const FIXED =
  '"max_output_tokens":null,"max_tool_calls":null,"parallel_tool_calls":true,"presence_penalty":0,"frequency_penalty":0,' +
  '"prompt_cache_key":null,"reasoning":null,"service_tier":"default","temperature":1,"top_logprobs":0,"top_p":1,' +
  '"truncation":"disabled","user":null';

const NO_REQUEST: ShownRequest = {};
const DEFAULTS = requestJson(NO_REQUEST);

function requestJson(shown: ShownRequest): string {
  const {
    instructions = null,
    metadata = {},
    previous_response_id = null,
    store = true,
    background = false,
    tools = [],
    tool_choice = 'auto',
    text = { format: { type: 'text' } },
    safety_identifier = null,
  } = shown;
  const members = { instructions, metadata, previous_response_id, store, background, tools, tool_choice, text };
  return JSON.stringify({ ...members, safety_identifier }).slice(1, -1);
}

/** The state of a response, in the words of its API. */
export type ResponseStatus = 'in_progress' | 'completed' | 'failed' | 'cancelled';

export interface ResponseState {
  readonly status: ResponseStatus;
  /** The items as JSON. */
  readonly output: readonly string[];
  /** Milliseconds since 1970; null if the run has not completed. */
  readonly completedAt: number | null;
  readonly error: RunError | null;
  readonly usage: Usage | null;
}

export const toResponseStatus = (status: RunEndStatus): ResponseStatus => status;

const seconds = (ms: number) => Math.floor(ms / 1000);

/** One response's JSON. Most of it is the same in each of its events, and is made once. */
export class ResponseJson {
  readonly #head: string;
  readonly #tail: string;

  /** With `hidesSecrets` the reader does not see what a backend sent with the request. */
  constructor({ runId, chatId, agent, createdAt, shown }: Meta, hidesSecrets: boolean) {
    const request = shown === undefined || !hidesSecrets ? shown : withoutSecrets(shown as ShownRequest);
    const fields = request === undefined ? DEFAULTS : requestJson(request as ShownRequest);
    this.#head = `{"id":"${toResponseId(runId)}","object":"response","created_at":${seconds(createdAt)},"status":"`;
    const about = `"model":${JSON.stringify(agent)},"conversation":{"id":${JSON.stringify(chatId)}}`;
    this.#tail = `,${about},${fields},${FIXED}}`;
  }

  write({ status, output, completedAt, error, usage }: ResponseState): string {
    const ended = completedAt === null ? 'null' : String(seconds(completedAt));
    const failure = error === null ? 'null' : JSON.stringify({ code: error.code, message: error.message });
    const about = `","completed_at":${ended},"error":${failure},"incomplete_details":null,"output":[`;
    return `${this.#head}${status}${about}${output.join(',')}],"usage":${usageText(usage)}${this.#tail}`;
  }
}

function usageText(usage: Usage | null): string {
  if (usage === null) return 'null';
  const { inputTokens, cachedTokens, outputTokens, reasoningTokens } = usage;
  return (
    `{"input_tokens":${inputTokens},"input_tokens_details":{"cached_tokens":${cachedTokens}},` +
    `"output_tokens":${outputTokens},"output_tokens_details":{"reasoning_tokens":${reasoningTokens}},` +
    `"total_tokens":${inputTokens + outputTokens}}`
  );
}
