import type { ModelObject, ToolCall } from '@runwire/agency';
import { compileJsonSchema } from '@runwire/lib/json-schema.ts';
import type { CallState } from '../../agent/call-state.ts';
import {
  type AskingRule,
  alwaysAsks,
  type CheckInput,
  type CheckResult,
  EndedByOther,
  type Guardrail,
  type IsEnabled,
  type Tool,
  wrongArguments,
  wrongContext,
} from '../../agent/ports.ts';
import { stateJson } from '../../domain/chat/chat-state.ts';
import type { AgentCode } from '../agency-draft.ts';
import type { AboutRun, OutputSchema } from '../loaded-agency.ts';
import { refusedSchema } from '../prepare-code.ts';
import type { RefusedCode } from '../refused-code.ts';
import { type JsonSchema, plainSchema, SchemaRefused } from '../tool-schema.ts';
import type { AgencyCode } from './agency-code.ts';
import { ProcessEnded } from './agency-process.ts';
import type {
  DescribedAgent,
  DescribedCondition,
  DescribedGuardrail,
  DescribedModel,
  DescribedSchema,
  DescribedTool,
  SentCall,
} from './messages.ts';

/* Parts of an agency's code that run in its process, in the form that the server uses. */

/** The parts of a stream that the process may send before they are read. */
const STREAM_WINDOW = 32;

export function remoteAgent(code: AgencyCode, agent: DescribedAgent): AgentCode {
  const { instructions: ref, tools, output, models } = agent;
  return {
    ...(ref === null
      ? {}
      : {
          instructions: async ({ date, member, userContext, state }: AboutRun) =>
            (await code.ask({
              kind: 'instructions',
              agent: ref,
              about: { date, member, userContext, state },
            })) as string,
        }),
    tools: new Map(tools.map(([name, tool]) => [name, remoteTool(code, tool)])),
    ...(output === null ? {} : { output: remoteSchema(code, output) }),
    models: remoteModels(code, models),
  };
}

export function remoteTool(code: AgencyCode, described: DescribedTool | RefusedCode): Tool | RefusedCode {
  if ('refused' in described) return described;
  const { ref, file, asks, isConditional, isPlainInput, plainContext, ...shown } = described;
  const input = isPlainInput ? plainCheck('inputSchema', shown.inputSchema) : checkInProcess(code, `tool ${ref}`);
  const context = plainContext === null ? null : plainCheck('contextSchema', plainContext);
  if (typeof input !== 'function') return input;
  if (context !== null && typeof context !== 'function') return context;
  const named = { ...shown, ref, file };
  return {
    ...shown,
    checkInput: input,
    asks: asks === null ? undefined : asks === 'tool' ? alwaysAsks(asks, input) : approvalRule(code, ref, input),
    takesState: true,
    ...(isConditional && { isEnabled: askCondition(code, `tool ${ref}`) }),
    async call(given, call, argumentsText, state) {
      const { abortSignal: signal, progress: onProgress, userContext } = call;
      const checked = isPlainInput ? await input(given) : { value: given };
      if ('problem' in checked) return wrongArguments(checked.problem);
      const about = await context?.(userContext);
      if (about !== undefined && 'problem' in about) return wrongContext(about.problem);
      return code.call(named, { input: given, argumentsText, call: sentCall(call, state) }, { signal, onProgress });
    },
  };
}

export const remoteCondition = (
  code: AgencyCode,
  described: DescribedCondition | RefusedCode,
): IsEnabled | RefusedCode => ('refused' in described ? described : askCondition(code, described.ref));

/** A condition decides and does nothing else, so it is asked again if the process ends. */
const askCondition =
  (code: AgencyCode, condition: string): IsEnabled =>
  async (about, signal) => {
    try {
      return await code.ask({ kind: 'condition', condition, about }, { signal });
    } catch (error) {
      if (!(error instanceof ProcessEnded)) throw error;
      const { usedBy } = error.fault;
      const isOwn = usedBy === null || (usedBy.use === 'condition' && usedBy.part === condition);
      throw isOwn ? error : new EndedByOther(error.message, { cause: error });
    }
  };

/** A guardrail is asked once: what its check has done outside cannot be taken back. */
export function remoteGuardrail(
  code: AgencyCode,
  described: DescribedGuardrail | RefusedCode,
): Guardrail | RefusedCode {
  if ('refused' in described) return described;
  const { name, on } = described;
  return {
    name,
    on,
    check: (about, signal) => code.askOnce({ kind: 'guardrail', guardrail: name, about }, { signal }),
  };
}

/** The check of a plain JSON Schema is made in the server. */
function plainCheck(field: string, jsonSchema: JsonSchema): CheckInput | RefusedCode {
  try {
    return plainSchema(jsonSchema, compileJsonSchema).check;
  } catch (error) {
    if (error instanceof SchemaRefused) return { refused: `cannot be used: its \`${field}\` ${error.message}` };
    throw error;
  }
}

function sentCall(
  { idempotencyKey, callId, userContext, member, approval, messages }: ToolCall,
  state: CallState | undefined,
): SentCall {
  const stateText = state === undefined || state.before.values.size === 0 ? null : stateJson(state.before);
  const messagesJson = JSON.stringify(messages);
  return { idempotencyKey, callId, userContext, member, approval, messagesJson, stateJson: stateText };
}

/** A process that ends counts as true: a call that may need approval is never made without it. */
function approvalRule(code: AgencyCode, tool: string, checkInput: CheckInput): AskingRule {
  return {
    kind: 'approval',
    async isNeeded(input, { toolCallId, context, messages }) {
      if ('problem' in (await checkInput(input))) return false;
      const call = { toolCallId, context, messagesJson: JSON.stringify(messages) };
      try {
        return (await code.ask({ kind: 'approval', tool, input, call })) as boolean;
      } catch {
        return true;
      }
    },
  };
}

const checkInProcess =
  (code: AgencyCode, schema: string): CheckInput =>
  async (value) =>
    (await code.ask({ kind: 'check', schema, value })) as CheckResult;

function remoteSchema(code: AgencyCode, described: DescribedSchema | RefusedCode): OutputSchema | RefusedCode {
  if ('refused' in described) return described;
  const { ref, jsonSchema, isPlain } = described;
  if (!isPlain) return { jsonSchema, check: checkInProcess(code, ref) };
  try {
    return plainSchema(jsonSchema, compileJsonSchema);
  } catch (error) {
    if (error instanceof SchemaRefused) return refusedSchema(error);
    throw error;
  }
}

export function remoteModels(code: AgencyCode, models: readonly DescribedModel[]): AgentCode['models'] {
  return new Map(models.map((described) => [described.name, remoteModel(code, described)]));
}

/** A model of the AI SDK whose calls are made in the process. */
function remoteModel(code: AgencyCode, { ref, specificationVersion, provider, modelId }: DescribedModel): ModelObject {
  return {
    specificationVersion,
    provider,
    modelId,
    doStream({ abortSignal, ...options }: { readonly abortSignal: AbortSignal }) {
      const { promise: begun, resolve, reject } = Promise.withResolvers<{ stream: ReadableStream<unknown> }>();
      const cancelled = new AbortController();
      let more: (parts: number) => void = () => {};
      let unread = 0;
      const stream = new ReadableStream<unknown>(
        {
          start(controller) {
            const onPart = (part: unknown) => {
              // The reader cancels the stream after the last part that it needs; parts may be under way.
              if (cancelled.signal.aborted || typeof part !== 'object' || part === null) return;
              if ('begun' in part) resolve({ stream });
              else if ('value' in part) {
                unread += 1;
                controller.enqueue(part.value);
              }
            };
            const onMore = (send: (parts: number) => void) => {
              more = send;
              send(STREAM_WINDOW);
            };
            const signal = AbortSignal.any([abortSignal, cancelled.signal]);
            code.askOnce({ kind: 'stream', model: ref, options }, { signal, onPart, onMore }).then(
              () => {
                resolve({ stream });
                if (!cancelled.signal.aborted) controller.close();
              },
              (error: unknown) => {
                // A new process may answer.
                if (error instanceof ProcessEnded) Object.assign(error, { isRetryable: true });
                reject(error);
                if (!cancelled.signal.aborted) controller.error(error);
              },
            );
          },
          pull() {
            more(unread);
            unread = 0;
          },
          cancel: () => cancelled.abort(),
        },
        { highWaterMark: STREAM_WINDOW / 2 },
      );
      return begun;
    },
  } as ModelObject;
}
