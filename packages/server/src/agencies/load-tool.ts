import type { AboutStep, ToolCall } from '@runwire/agency';
import { withObjectType } from '@runwire/lib/object-type.ts';
import { type AskingRule, alwaysAsks, type CheckInput, checkedCall, onlyByCaller, type Tool } from '../agent/ports.ts';
import { loadCondition } from './load-condition.ts';
import { asText, modelOutput } from './model-output.ts';
import { type CompileSchema, readSchema, SchemaRefused, type ToolSchema } from './tool-schema.ts';

/** A tool as `defineTool` or the AI SDK's `tool()` makes it. Every field is checked before it is used. */
interface GivenTool {
  readonly description?: unknown;
  readonly type?: unknown;
  readonly inputSchema?: unknown;
  /** The word of the OpenAI Agents SDK for `inputSchema`. */
  readonly parameters?: unknown;
  readonly contextSchema?: unknown;
  readonly needsApproval?: unknown;
  readonly editable?: unknown;
  readonly remember?: unknown;
  readonly repeatable?: unknown;
  readonly timeoutSeconds?: unknown;
  readonly isEnabled?: unknown;
  readonly execute?: (input: unknown, call: ToolCall) => unknown;
  readonly onInputStart?: (call: ToolCall) => unknown;
  readonly onInputDelta?: (call: ToolCall & { readonly inputTextDelta: string }) => unknown;
  readonly onInputAvailable?: (call: ToolCall & { readonly input: unknown }) => unknown;
  readonly toModelOutput?: (result: ToolResult) => unknown;
}

interface ToolResult {
  readonly toolCallId: string;
  readonly input: unknown;
  readonly output: unknown;
}

/** The names that providers accept for a function. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

const NO_OBJECT = "is not an object; write `type: 'object'`, with the values of a call in `properties`.";

const DEFAULT_TIMEOUT_SECONDS = 300;
/** A run's longest limit is shorter. */
const MAX_TIMEOUT_SECONDS = 86_400;

/** The tool cannot be used. The message continues the sentence "The tool `name` of agent `agent` …". */
export class ToolRefused extends Error {}

/** A tool with the schemas of its input and of the user's context. */
export interface PreparedTool extends Tool {
  readonly schemas: { readonly input: ToolSchema; readonly context: ToolSchema | null };
}

/** Checks a tool and converts it to the form that the loop calls. */
export async function loadTool(name: string, given: object, compile: CompileSchema): Promise<PreparedTool> {
  const tool = given as GivenTool;
  const { execute } = tool;
  checkTool(name, tool);
  const { needsApproval = false, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = tool;
  const input = await toolSchema('inputSchema', tool.inputSchema, compile);
  const { check: checkInput } = input;
  const inputSchema = withObjectType(input.jsonSchema);
  if (inputSchema === null) throw new ToolRefused(`cannot be used: its \`inputSchema\` ${NO_OBJECT}`);
  const context =
    tool.contextSchema === undefined ? null : await toolSchema('contextSchema', tool.contextSchema, compile);
  const schemas = { input, context };
  const description = String(tool.description ?? '');
  const condition = tool.isEnabled as ((about: AboutStep) => unknown) | undefined;
  const isEnabled = condition && loadCondition(condition, tool);
  const shown = { name, description, inputSchema, checkInput, schemas, ...(isEnabled && { isEnabled }) };
  const repeatable = tool.repeatable === true;
  if (execute === undefined)
    return { ...shown, repeatable, asks: alwaysAsks('tool', checkInput), call: onlyByCaller(checkInput) };
  return {
    ...shown,
    repeatable,
    editable: tool.editable === true,
    remember: tool.remember === true,
    timeoutMs: Number(timeoutSeconds) * 1000,
    takesState: true,
    asks: asksApproval(needsApproval as NeedsApproval, checkInput),
    call: checkedCall({
      checkInput,
      ...(context === null ? {} : { checkContext: context.check }),
      async execute(value, call, argumentsText) {
        // The order of the AI SDK. The arguments are complete at this point.
        await tool.onInputStart?.(call);
        await tool.onInputDelta?.({ ...call, inputTextDelta: argumentsText });
        await tool.onInputAvailable?.({ ...call, input: value });
        const output = await lastValue(execute.call(tool, value, call), call);
        if (tool.toModelOutput === undefined) return asText(output);
        return modelOutput(await tool.toModelOutput({ toolCallId: call.toolCallId, input: value, output }));
      },
    }),
  };
}

function checkTool(name: string, tool: GivenTool): void {
  if (typeof tool === 'function') {
    const form = '`defineTool({ name, description, inputSchema, execute })`';
    throw new ToolRefused(`is a function; make it a tool with ${form}.`);
  }
  if (!NAME.test(name)) {
    throw new ToolRefused('has a name that models refuse; use 1 to 64 letters, digits, `_` and `-`.');
  }
  const { type, execute, needsApproval, description, timeoutSeconds, isEnabled } = tool;
  if (type === 'provider' || type === 'provider-defined') {
    throw new ToolRefused('runs at the provider; only tools that run on this server are supported.');
  }
  if (execute !== undefined && typeof execute !== 'function') {
    throw new ToolRefused('has an `execute` that is not a function; make it one, or leave it out.');
  }
  if (needsApproval !== undefined && typeof needsApproval !== 'boolean' && typeof needsApproval !== 'function') {
    throw new ToolRefused('has a `needsApproval` that is neither a boolean nor a function; make it one.');
  }
  if (description !== undefined && typeof description !== 'string') {
    throw new ToolRefused('has a description that is not a string; write it as a string.');
  }
  for (const field of ['repeatable', 'editable', 'remember'] as const) {
    const value = tool[field];
    if (value !== undefined && typeof value !== 'boolean') {
      throw new ToolRefused(`has a \`${field}\` that is neither true nor false; set it to one of them.`);
    }
    if (value === true && execute === undefined && field !== 'repeatable') {
      throw new ToolRefused(`has \`${field}\`, but only the caller can run it, so no approval is asked; remove it.`);
    }
  }
  if (timeoutSeconds !== undefined && !isTimeout(timeoutSeconds)) {
    throw new ToolRefused(`has a \`timeoutSeconds\` that is no number from 1 to ${MAX_TIMEOUT_SECONDS}; write one.`);
  }
  if (isEnabled !== undefined && typeof isEnabled !== 'function') {
    throw new ToolRefused('has an `isEnabled` that is not a function; make it one, or leave it out.');
  }
  if (tool.inputSchema === undefined && tool.parameters !== undefined) {
    throw new ToolRefused('has `parameters`; write `inputSchema`.');
  }
}

const isTimeout = (value: unknown): boolean => typeof value === 'number' && value >= 1 && value <= MAX_TIMEOUT_SECONDS;

type NeedsApproval = boolean | ((...given: Parameters<AskingRule['isNeeded']>) => unknown);

/** A function that fails counts as true: a call that may need approval is never made without it. */
function asksApproval(needs: NeedsApproval, checkInput: CheckInput): AskingRule | undefined {
  if (typeof needs === 'boolean') return needs ? alwaysAsks('approval', checkInput) : undefined;
  return {
    kind: 'approval',
    async isNeeded(given, call) {
      const input = await checkInput(given);
      if ('problem' in input) return false;
      try {
        return Boolean(await needs(input.value, call));
      } catch {
        return true;
      }
    },
  };
}

async function toolSchema(field: string, given: unknown, compile: CompileSchema): Promise<ToolSchema> {
  try {
    return await readSchema(given, compile);
  } catch (error) {
    if (error instanceof SchemaRefused) throw new ToolRefused(`cannot be used: its \`${field}\` ${error.message}`);
    throw error;
  }
}

/**
 * Returns the last value of a streamed result, and reports the others as progress. Stops waiting for the next value if the
 * run is stopped.
 */
async function lastValue(result: unknown, { abortSignal, progress }: ToolCall): Promise<unknown> {
  const value = isAsyncIterable(result) ? result : await result;
  if (!isAsyncIterable(value)) return value;
  let last: unknown;
  let report: NodeJS.Immediate | null = null;
  const reportNow = () => {
    if (report === null) return;
    clearImmediate(report);
    report = null;
    progress(last);
  };
  try {
    for await (const next of value) {
      abortSignal.throwIfAborted();
      reportNow();
      last = next;
      // A generator ends in the same turn as its last value. If it has not ended by then, the value is progress.
      report = setImmediate(reportNow);
    }
  } catch (error) {
    reportNow();
    throw error;
  }
  if (report !== null) clearImmediate(report);
  return last;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
