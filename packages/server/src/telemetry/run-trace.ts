import type { SpanAttributes, TraceSpan, Tracing } from './tracing.ts';

/** The attempt of a run whose spans are made. */
export interface TracedAttempt {
  readonly runId: string;
  readonly integrationId: string;
  readonly chatId: string;
  readonly consumerId: string | null;
  readonly attempt: number;
  /** The parent of the attempt's spans; undefined if none is stored with the run. */
  readonly traceparent: string | undefined;
}

interface TokenUsage {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

/** What a call of a model answered. */
export interface ChatEnd {
  readonly usage: TokenUsage;
  readonly responseId?: string | null | undefined;
  readonly finishReason?: string | null | undefined;
  /** Our code; null if the model answered. */
  readonly errorType: string | null;
  /** The answer. It is only called if contents are exported. */
  readonly output: () => unknown;
}

/** `provider/model` as the conventions name it. */
function modelAttributes(model: string): SpanAttributes {
  const at = model.indexOf('/');
  return {
    'gen_ai.provider.name': at === -1 ? model : model.slice(0, at),
    'gen_ai.request.model': model.slice(at + 1),
  };
}

const usageAttributes = (usage: TokenUsage): SpanAttributes => ({
  'gen_ai.usage.input_tokens': usage.inputTokens,
  'gen_ai.usage.output_tokens': usage.outputTokens,
  'gen_ai.usage.cache_read.input_tokens': usage.cachedTokens,
  'gen_ai.usage.reasoning.output_tokens': usage.reasoningTokens,
});

export function addressAttributes(address: string | undefined): SpanAttributes {
  if (address === undefined || !URL.canParse(address)) return {};
  const { hostname, port, protocol } = new URL(address);
  return { 'server.address': hostname, 'server.port': port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port) };
}

/** Makes one attempt's spans by the GenAI conventions. */
export class RunTrace {
  readonly #tracing: Tracing;
  readonly #about: TracedAttempt;
  readonly #parent: string;
  readonly traceId: string;
  /** The first agent's span. Null until it begins. */
  #root: AgentTrace | null = null;

  constructor(tracing: Tracing, about: TracedAttempt) {
    this.#tracing = tracing;
    this.#about = about;
    this.#parent = about.traceparent ?? tracing.parentFor(about.runId);
    this.traceId = this.#parent.slice(3, 35);
  }

  get hasContent(): boolean {
    return this.#tracing.hasContent;
  }

  /** Begins the span of an agent. `caller` is null for the agent that begins the attempt. */
  agent(name: string, model: string, isReplayed: boolean, caller: AgentTrace | null): AgentTrace {
    const { runId, integrationId, chatId, consumerId, attempt } = this.#about;
    const common = {
      'gen_ai.agent.name': name,
      'gen_ai.conversation.id': chatId,
      'runwire.run.id': runId,
      'runwire.integration.id': integrationId,
      'runwire.attempt': attempt,
    };
    const span = this.#tracing.start(
      {
        name: `invoke_agent ${name}`,
        kind: 'internal',
        attributes: {
          'gen_ai.operation.name': 'invoke_agent',
          ...modelAttributes(model),
          ...common,
          'runwire.replayed': isReplayed,
          'enduser.id': this.hasContent && consumerId !== null ? consumerId : undefined,
        },
      },
      caller === null ? this.#parent : caller.traceparent,
    );
    const agent = new AgentTrace(this, this.#tracing, span, common);
    if (caller === null) this.#root = agent;
    return agent;
  }

  /** Ends the attempt. */
  end(errorType: string | null): void {
    this.#root?.end(errorType);
  }
}

/** The span of an agent, with the spans of its steps. */
export class AgentTrace {
  readonly #run: RunTrace;
  readonly #tracing: Tracing;
  readonly #span: TraceSpan;
  readonly #common: SpanAttributes;
  readonly #used = { inputTokens: 0, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 };

  constructor(run: RunTrace, tracing: Tracing, span: TraceSpan, common: SpanAttributes) {
    this.#run = run;
    this.#tracing = tracing;
    this.#span = span;
    this.#common = common;
  }

  get traceparent(): string {
    return this.#span.traceparent;
  }

  /** Begins the span of an agent that this one sends a message. */
  delegate(name: string, model: string, isReplayed: boolean): AgentTrace {
    return this.#run.agent(name, model, isReplayed, this);
  }

  /** Begins a model call's span. `prompt` is only called if contents are exported. */
  chat(agent: string, model: string, address: string | undefined, prompt: () => unknown): ChatTrace {
    const span = this.#startChat(agent, model, { ...addressAttributes(address), 'runwire.replayed': false });
    const { hasContent } = this.#run;
    if (hasContent) span.set({ 'gen_ai.input.messages': JSON.stringify(prompt()) });
    return new ChatTrace(span, hasContent, this.#used);
  }

  /** A step that an earlier attempt made. Its usage is on the span of that attempt. */
  replayedChat(agent: string, model: string): void {
    this.#startChat(agent, model, { 'runwire.replayed': true }).end();
  }

  #startChat(agent: string, model: string, more: SpanAttributes): TraceSpan {
    const attributes: SpanAttributes = {
      'gen_ai.operation.name': 'chat',
      ...modelAttributes(model),
      ...this.#common,
      'gen_ai.agent.name': agent,
      ...more,
    };
    return this.#tracing.start(
      { name: `chat ${attributes['gen_ai.request.model']}`, kind: 'client', attributes },
      this.traceparent,
    );
  }

  /** Begins a tool call's span. */
  tool(agent: string, tool: string, callId: string, argumentsText: string): ToolTrace {
    const { hasContent } = this.#run;
    const span = this.#startTool(agent, tool, callId, false);
    if (hasContent) span.set({ 'gen_ai.tool.call.arguments': argumentsText });
    return new ToolTrace(span, hasContent);
  }

  replayedTool(agent: string, tool: string, callId: string): void {
    this.#startTool(agent, tool, callId, true).end();
  }

  #startTool(agent: string, tool: string, callId: string, isReplayed: boolean): TraceSpan {
    const attributes = {
      'gen_ai.operation.name': 'execute_tool',
      ...this.#common,
      'gen_ai.agent.name': agent,
      'gen_ai.tool.name': tool,
      'gen_ai.tool.call.id': callId,
      'gen_ai.tool.type': 'function',
      'runwire.replayed': isReplayed,
    };
    return this.#tracing.start({ name: `execute_tool ${tool}`, kind: 'internal', attributes }, this.traceparent);
  }

  /** Ends the span with the usage of its own calls. */
  end(errorType: string | null): void {
    this.#span.set(usageAttributes(this.#used));
    this.#span.end(errorType);
  }
}

/** The span for a model call. */
export class ChatTrace {
  readonly #span: TraceSpan;
  readonly #hasContent: boolean;
  readonly #agentUsed: { -readonly [K in keyof TokenUsage]: number };

  constructor(span: TraceSpan, hasContent: boolean, agentUsed: { -readonly [K in keyof TokenUsage]: number }) {
    this.#span = span;
    this.#hasContent = hasContent;
    this.#agentUsed = agentUsed;
  }

  get traceparent(): string {
    return this.#span.traceparent;
  }

  firstOutput(): void {
    this.#span.event('gen_ai.first_token');
  }

  end({ usage, responseId, finishReason, errorType, output }: ChatEnd): void {
    const used = this.#agentUsed;
    used.inputTokens += usage.inputTokens;
    used.cachedTokens += usage.cachedTokens;
    used.outputTokens += usage.outputTokens;
    used.reasoningTokens += usage.reasoningTokens;
    this.#span.set({
      ...usageAttributes(usage),
      'gen_ai.response.id': responseId ?? undefined,
      'gen_ai.response.finish_reasons': typeof finishReason === 'string' ? [finishReason] : undefined,
      'gen_ai.output.messages': this.#hasContent ? JSON.stringify(output()) : undefined,
    });
    this.#span.end(errorType);
  }
}

/** The span for a tool call. */
export class ToolTrace {
  readonly #span: TraceSpan;
  readonly #hasContent: boolean;

  constructor(span: TraceSpan, hasContent: boolean) {
    this.#span = span;
    this.#hasContent = hasContent;
  }

  get traceparent(): string {
    return this.#span.traceparent;
  }

  end(errorType: string | null, result: string | null): void {
    if (this.#hasContent && result !== null) this.#span.set({ 'gen_ai.tool.call.result': result });
    this.#span.end(errorType);
  }
}
