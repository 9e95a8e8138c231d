import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelCall, ModelController } from '@runwire/test-kit';

/** The answer to a message without a command: every form of Markdown that a model writes. */
const ANSWER = `Your order **A-1001** is on its way.

| parcel | arrives |
|---|---|
| 1 | Tuesday |
| 2 | Thursday |

1. Keep the number.
2. Ask again with \`order A-1001\` at any time.

\`\`\`json
{ "order": "A-1001", "parcels": 2 }
\`\`\`
`;

const WORD_MS = 5;

type Usage = NonNullable<Parameters<ModelCall['end']>[0]>;

/**
 * The model of the console's server. The last message of the user decides what it answers:
 *
 * - `think …`: reasoning, then the answer
 * - `tool <name> <arguments>`: calls the tool, then repeats its output; several lines call several tools together
 * - `team …`: asks the agents that it may ask, then hands over
 * - `fail …`: some text, then a failure of the provider
 * - `hold …`: some text, then waits for `release`
 * - `say …`: the rest of the message, as reasoning and as the answer
 * - anything else: the answer, word by word
 */
export class ScriptedAnswers {
  readonly #held = new Set<ModelCall>();
  /** Answers instead of the commands, if it is set. */
  script: ((call: ModelCall) => Promise<void>) | null = null;

  constructor(model: ModelController) {
    model.onCall = (call) => {
      // If the server dies or the run is cancelled, writing fails.
      (this.script?.(call) ?? this.#play(call)).catch(() => {});
    };
  }

  /** The calls that wait for `release`. */
  get held(): number {
    return [...this.#held].filter(({ isClosed }) => !isClosed).length;
  }

  /** Ends the answers to `hold`, with a last text. */
  async release(text = ' That is all.'): Promise<void> {
    const calls = [...this.#held].filter(({ isClosed }) => !isClosed);
    this.#held.clear();
    for (const call of calls) {
      await call.text(text);
      await call.end(toUsage(call));
    }
  }

  async #play(call: ModelCall): Promise<void> {
    const { prompt } = call.request;
    const from = prompt.findLastIndex((item) => item.kind === 'user');
    const message = prompt.flatMap((item) => (item.kind === 'user' ? [item.text] : [])).at(-1) ?? '';
    const outputs = prompt.slice(from + 1).flatMap((item) => (item.kind === 'tool_output' ? [item.output] : []));
    const [command = ''] = message.trim().split(/\s/, 1);
    if (command === 'think') {
      await write('First I look at the order. Then I look at its parcels.', (text) => call.reasoning(text));
    }
    if (command === 'fail') {
      await call.text('I will look it up.');
      return call.fail('model_error', 'The provider answered 503: overloaded.');
    }
    if (command === 'say') {
      const text = message.trim().slice('say '.length);
      await call.reasoning(text);
      await call.text(text);
      return call.end(toUsage(call));
    }
    if (command === 'hold') {
      await write('I am looking it up. This takes a while.', (text) => call.text(text));
      this.#held.add(call);
      return;
    }
    const calls = command === 'tool' ? toolCalls(message, outputs) : command === 'team' ? teamCalls(call, outputs) : [];
    for (const [index, { name, args }] of calls.entries()) {
      await call.toolCall(`call_${call.request.runId}_${call.request.step}_${index}`, name, args);
    }
    if (calls.length === 0) {
      const text = outputs.length === 0 ? ANSWER : `The tools returned:\n\n${outputs.join('\n')}`;
      await write(text, (part) => call.text(part));
    }
    await call.end(toUsage(call));
  }
}

/** Somewhat like a provider: the prompt counts, and half of it is cached after the first step. */
function toUsage({ request: { prompt, step } }: ModelCall): Usage {
  const inputTokens = 300 + Math.ceil(JSON.stringify(prompt).length / 4);
  const cachedTokens = step === 1 ? 0 : Math.floor(inputTokens / 2);
  return { requestCount: 1, inputTokens, cachedTokens, outputTokens: 120, reasoningTokens: 0 };
}

async function write(text: string, send: (part: string) => Promise<void>): Promise<void> {
  for (const part of text.split(/(?<=\s)/)) {
    await send(part);
    await sleep(WORD_MS);
  }
}

interface ScriptedCall {
  readonly name: string;
  readonly args: string;
}

/** A call for each line such as `tool lookup {"order":"A-1"}`. */
function toolCalls(message: string, outputs: readonly string[]): ScriptedCall[] {
  if (outputs.length > 0) return [];
  return message.split('\n').flatMap((line) => {
    const [, name, args = '{}'] = /^\s*tool\s+(\S+)\s*(\{[\s\S]*\})?/.exec(line) ?? [];
    return name === undefined ? [] : [{ name, args }];
  });
}

interface FlowSchema {
  readonly properties?: { readonly recipient_agent?: { readonly enum?: readonly string[] } };
}

/** Asks all agents that this agent may ask, then hands over to the first that it may hand over to. */
function teamCalls({ request: { tools } }: ModelCall, outputs: readonly string[]): ScriptedCall[] {
  const recipients = (name: string) =>
    (tools.find((tool) => tool.name === name)?.inputSchema as FlowSchema | undefined)?.properties?.recipient_agent
      ?.enum ?? [];
  const asked = recipients('send_message');
  if (outputs.length === 0 && asked.length > 0) {
    return asked.map((recipient_agent) => ({
      name: 'send_message',
      args: JSON.stringify({ recipient_agent, message: 'Please do your part.' }),
    }));
  }
  const transfer = tools.find(({ name }) => name.startsWith('transfer_to_'));
  const isTransferred = outputs.some((output) => output.startsWith('Transfer completed.'));
  if (transfer === undefined || isTransferred) return [];
  return [{ name: transfer.name, args: JSON.stringify({ recipient_agent: recipients(transfer.name)[0] }) }];
}
