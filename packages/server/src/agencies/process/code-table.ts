import { flushCompileCache, getCompileCacheDir } from 'node:module';
import type { ModelObject } from '@runwire/agency';
import { CallState, withChanges } from '../../agent/call-state.ts';
import type { Guardrail, IsEnabled, Tool, ToolOutcome } from '../../agent/ports.ts';
import { ToolProgress } from '../../agent/tool-progress.ts';
import { EMPTY_STATE, parseState } from '../../domain/chat/chat-state.ts';
import type { AgencyDraft, AgentCode } from '../agency-draft.ts';
import { importModule, importPackage } from '../agency-modules.ts';
import { AgencyBroken, Faults } from '../fault.ts';
import { type ConditionParts, loadCondition } from '../load-condition.ts';
import { type GuardrailParts, loadGuardrail, looksLikeGuardrail } from '../load-guardrail.ts';
import type { PreparedTool } from '../load-tool.ts';
import { moduleFailure } from '../module-failure.ts';
import { type PreparedCode, prepareCode, prepareTool } from '../prepare-code.ts';
import type { RefusedCode } from '../refused-code.ts';
import type { ToolSchema } from '../tool-schema.ts';
import type {
  CallAnswer,
  CodeSource,
  DescribedAgency,
  DescribedAgent,
  DescribedExports,
  DescribedModel,
  DescribedSchema,
  DescribedTool,
  LoadAnswer,
  LoadQuestion,
  Pong,
  Question,
} from './messages.ts';
import type { StrippedFiles } from './strip-files.ts';
import { reportWithheld } from './withheld-variables.ts';

type Ask<Kind extends Question['kind']> = Extract<Question, { kind: Kind }>;

const MAX_INSTRUCTIONS_CHARACTERS = 4 * 1024 * 1024;
const NOTHING = { files: [], faults: [], agency: null, exports: [] };
const EXPORTED_TWICE = 'is exported by two files of `toolFiles`; rename one of them.';
const ALWAYS_ROOM = { isFull: false, onceRoom: () => {} };

/** The server compiles plain JSON Schema and checks values by it: Ajv would cost this process 11 MB. */
const leaveToServer = () => (value: unknown) => ({ value });

/** A question that is being answered. */
export interface OpenAnswer {
  readonly signal: AbortSignal;
  progress(text: string): void;
  part(part: unknown): void;
  /** Resolves when a stream's reader has room for a part. */
  room(): Promise<void>;
}

/** The code of one version of an agency, by the references under which the server knows its parts. */
export class AgencyCodeTable {
  readonly #onWithheld: (variable: string) => void;
  readonly #tools = new Map<string, Tool>();
  readonly #schemas = new Map<string, ToolSchema>();
  readonly #models = new Map<string, ModelObject>();
  readonly #guardrails = new Map<string, Guardrail>();
  readonly #conditions = new Map<string, IsEnabled>();
  readonly #instructions = new Map<string, NonNullable<AgentCode['instructions']>>();
  #resultCharacters = 0;

  /** The function is called once for each withheld variable that the code reads. */
  constructor(onWithheld: (variable: string) => void) {
    this.#onWithheld = onWithheld;
  }

  answer(ask: Question, open: OpenAnswer): Promise<unknown> | unknown {
    switch (ask.kind) {
      case 'load':
        return this.#load(ask);
      case 'call':
        return this.#call(ask, open);
      case 'approval':
        return this.#isApprovalNeeded(ask);
      case 'check':
        return this.#check(ask);
      case 'instructions':
        return this.#write(ask);
      case 'guardrail':
        return find(this.#guardrails, ask.guardrail, 'guardrail').check(ask.about, open.signal);
      case 'condition':
        return find(this.#conditions, ask.condition, 'condition')(ask.about, open.signal);
      case 'stream':
        return this.#stream(ask, open);
      case 'ping': {
        const { heapUsed, external } = process.memoryUsage();
        return { memoryBytes: heapUsed + external } satisfies Pong;
      }
    }
  }

  async #load({ folder, source, stripped, resultCharacters, withheld }: LoadQuestion): Promise<LoadAnswer> {
    this.#resultCharacters = resultCharacters;
    reportWithheld(withheld, this.#onWithheld);
    try {
      return await this.#loadSource(folder, source, stripped);
    } catch (error) {
      if (error instanceof AgencyBroken) return { ...NOTHING, faults: error.faults };
      return { failure: moduleFailure(error) };
    } finally {
      // Node would write its cache of compiled code at the exit, but the process is killed.
      if (getCompileCacheDir() !== undefined) flushCompileCache();
    }
  }

  async #loadSource(folder: string, source: CodeSource, stripped: StrippedFiles): Promise<LoadAnswer> {
    switch (source.kind) {
      case 'package':
        await importPackage(folder, source.name);
        return NOTHING;
      case 'agency': {
        const { exports, files } = await importModule(folder, source.file, stripped);
        // Only this form needs the shape's check, which costs 8 MB.
        const { readTypeScriptDefinition } = await import('../read-typescript-agency.ts');
        const written = await readTypeScriptDefinition(folder, source.file, exports, new Faults());
        const draft = await prepareCode(written, leaveToServer);
        return { ...NOTHING, files, agency: this.#describeAgency(draft, source.file) };
      }
      case 'tools': {
        const exports: DescribedExports[] = [];
        const files = new Set<string>();
        for (const file of source.files) {
          const loaded = await importModule(folder, file, stripped);
          for (const one of loaded.files) files.add(one);
          exports.push(await this.#describeExports(file, loaded.exports));
        }
        return { ...NOTHING, files: [...files], exports };
      }
    }
  }

  #describeAgency(
    { value, agents, models, guardrails, conditions }: AgencyDraft<PreparedCode>,
    file: string,
  ): DescribedAgency {
    return {
      value,
      guardrails: this.#describeGuardrails(guardrails),
      conditions: this.#describeConditions(conditions),
      agents: agents.map(({ value: agent, code }): DescribedAgent => {
        const { name } = agent;
        if (code.instructions !== undefined) this.#instructions.set(name, code.instructions);
        return {
          value: agent,
          instructions: code.instructions === undefined ? null : name,
          tools: [...code.tools].map(([tool, one]) => [tool, this.#describeTool(`${name}/${tool}`, file, one)]),
          output: code.output === undefined ? null : this.#describeSchema(`output ${name}`, code.output),
          models: this.#describeModels(`${name}/`, code.models),
        };
      }),
      models: this.#describeModels('', models),
    };
  }

  async #describeExports(file: string, exports: Readonly<Record<string, unknown>>): Promise<DescribedExports> {
    const described: [string, DescribedTool | RefusedCode][] = [];
    const guardrails = new Map<string, Guardrail | RefusedCode>();
    const functions = new Map<string, IsEnabled | RefusedCode>();
    for (const [name, tool] of Object.entries(exports)) {
      if (typeof tool === 'object' && tool !== null && looksLikeGuardrail(tool)) {
        const given = 'name' in tool && typeof tool.name === 'string' ? tool.name : name;
        const isSecond = guardrails.has(given);
        guardrails.set(
          given,
          isSecond ? { refused: 'has the name of another one in its file; rename it.' } : loadGuardrail(tool),
        );
        continue;
      }
      const isTool = typeof tool === 'object' && tool !== null && ('execute' in tool || 'inputSchema' in tool);
      if (typeof tool === 'function') {
        const isSecond = this.#conditions.has(toFlowRef(name));
        functions.set(name, isSecond ? { refused: EXPORTED_TWICE } : loadCondition(tool as () => unknown));
      }
      // If an agent names a function as a tool, its author gets a sentence about it.
      if (!isTool && typeof tool !== 'function') continue;
      const known = isTool && 'name' in tool && typeof tool.name === 'string' ? tool.name : name;
      const prepared = await prepareTool(known, tool, leaveToServer);
      const part = 'refused' in prepared ? { ...prepared, isFunction: !isTool } : prepared;
      described.push([known, this.#describeTool(known, file, part)]);
    }
    return {
      tools: described,
      guardrails: this.#describeGuardrails(guardrails),
      functions: this.#describeConditions(functions),
    };
  }

  #describeConditions(conditions: ConditionParts): DescribedExports['functions'] {
    return [...conditions].map(([name, condition]) => {
      if (typeof condition !== 'function') return [name, condition];
      const ref = toFlowRef(name);
      this.#conditions.set(ref, condition);
      return [name, { ref }];
    });
  }

  #describeGuardrails(guardrails: GuardrailParts): DescribedExports['guardrails'] {
    return [...guardrails].map(([name, guardrail]) => {
      if ('refused' in guardrail) return [name, guardrail];
      this.#guardrails.set(name, guardrail);
      return [name, { name, on: guardrail.on }];
    });
  }

  #describeTool(ref: string, file: string, tool: PreparedTool | RefusedCode): DescribedTool | RefusedCode {
    if ('refused' in tool) return tool;
    this.#tools.set(ref, tool);
    const { name, description, inputSchema, repeatable, editable, remember, timeoutMs, asks, isEnabled, schemas } =
      tool;
    if (isEnabled !== undefined) this.#conditions.set(`tool ${ref}`, isEnabled);
    const { input, context } = schemas;
    this.#schemas.set(`tool ${ref}`, input);
    return {
      ref,
      file,
      name,
      description,
      inputSchema,
      repeatable,
      editable: editable === true,
      remember: remember === true,
      timeoutMs,
      asks: asks?.kind ?? null,
      isConditional: isEnabled !== undefined,
      isPlainInput: input.isPlain,
      plainContext: context?.isPlain === true ? context.jsonSchema : null,
    };
  }

  #describeSchema(ref: string, schema: ToolSchema | RefusedCode): DescribedSchema | RefusedCode {
    if ('refused' in schema) return schema;
    this.#schemas.set(ref, schema);
    const { jsonSchema, isPlain } = schema;
    return { ref, jsonSchema, isPlain };
  }

  #describeModels(prefix: string, models: AgentCode['models']): DescribedModel[] {
    return [...models].map(([name, model]) => {
      const ref = `${prefix}${name}`;
      this.#models.set(ref, model);
      const { specificationVersion, provider, modelId } = model;
      return { ref, name, specificationVersion: String(specificationVersion), provider, modelId };
    });
  }

  async #call({ tool: ref, input, argumentsText, call }: Ask<'call'>, open: OpenAnswer): Promise<CallAnswer> {
    const { messagesJson, stateJson, ...sent } = call;
    const state = new CallState(stateJson === null ? EMPTY_STATE : parseState(stateJson));
    const progress = new ToolProgress(ALWAYS_ROOM, (text) => open.progress(text));
    const about = withMessages(messagesJson, {
      ...sent,
      toolCallId: sent.callId,
      context: sent.userContext,
      experimental_context: sent.userContext,
      abortSignal: open.signal,
      progress: progress.report,
      state: state.shown,
    });
    try {
      const outcome = await find(this.#tools, ref, 'tool').call(input, about, argumentsText, state);
      progress.finish();
      return this.#cut(withChanges(outcome, state.end()));
    } finally {
      state.end();
    }
  }

  #cut({ status, text, images, state }: ToolOutcome): CallAnswer {
    const shown = { status, ...(images !== undefined && { images }), ...(state !== undefined && { state }) };
    if (text.length <= this.#resultCharacters) return { ...shown, text };
    return { ...shown, text: text.slice(0, this.#resultCharacters), textLength: text.length };
  }

  async #isApprovalNeeded({ tool: ref, input, call }: Ask<'approval'>): Promise<boolean> {
    const { messagesJson, ...sent } = call;
    const { asks } = find(this.#tools, ref, 'tool');
    return asks === undefined ? false : asks.isNeeded(input, withMessages(messagesJson, sent));
  }

  async #check({ schema, value }: Ask<'check'>) {
    const checked = await find(this.#schemas, schema, 'schema').check(value);
    // The checked value may be of a class that cannot be sent, and the server needs only the verdict.
    return 'problem' in checked ? { problem: checked.problem } : { value };
  }

  async #write({ agent, about }: Ask<'instructions'>): Promise<string> {
    const text: unknown = await find(this.#instructions, agent, 'function `instructions` of the agent')(about);
    if (typeof text !== 'string') throw new TypeError(`The function returned no text, but ${typeof text}.`);
    if (text.length > MAX_INSTRUCTIONS_CHARACTERS) throw new RangeError('The function returned more than 4 MiB.');
    return text;
  }

  async #stream({ model: ref, options }: Ask<'stream'>, open: OpenAnswer): Promise<void> {
    const model = find(this.#models, ref, 'model');
    const called = { ...(options as object), abortSignal: open.signal };
    const { stream } = (await model.doStream(called as never)) as { readonly stream: ReadableStream<unknown> };
    open.part({ begun: true });
    const reader = stream.getReader();
    try {
      while (true) {
        await open.room();
        const { done, value } = await reader.read();
        if (done) return;
        open.part({ value });
      }
    } finally {
      reader.cancel().catch(() => {});
    }
  }
}

/** Tools and flows can have equal names. */
const toFlowRef = (name: string) => `flow ${name}`;

function find<T>(parts: ReadonlyMap<string, T>, ref: string, kind: string): T {
  const part = parts.get(ref);
  if (part === undefined) throw new Error(`This version of the agency has no ${kind} \`${ref}\`.`);
  return part;
}

/** The messages are parsed when the code reads them. */
function withMessages<About extends object>(messagesJson: string, about: About) {
  let messages: readonly unknown[] | null = null;
  return Object.defineProperty(about, 'messages', {
    get: () => (messages ??= JSON.parse(messagesJson) as readonly unknown[]),
    enumerable: true,
    configurable: true,
  }) as About & { readonly messages: readonly unknown[] };
}
