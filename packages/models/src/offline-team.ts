import type { ModelRequest, ModelTool, PromptItem } from './model.ts';

/*
 * The part of the offline model that shows how agents work together. `/team <task>` makes an agent ask all agents that it
 * may ask, concurrently, and then hand over to the first agent that it may hand over to. The recipients do their part
 * without asking others, so the number of calls is bounded in every agency.
 */

const TEAM = '/team';
const PART = 'Your part of the task: ';
const SEND_MESSAGE = 'send_message';
const TRANSFER = 'transfer_to_';
const CALCULATE = 'calculate';

/** The offline model either calls tools or answers. */
export type TeamTurn = { readonly calls: readonly TeamCall[] } | { readonly text: string };

interface TeamCall {
  readonly name: string;
  readonly arguments: string;
}

/** Returns null if the message is not about working together. */
export function teamTurn({ tools, prompt }: ModelRequest, message: string): TeamTurn | null {
  const since = prompt.slice(prompt.findLastIndex((item) => item.kind === 'user') + 1);
  if (message.startsWith(PART)) return part(tools, since, message.slice(PART.length));
  if (!/^\s*\/team(\s|$)/.test(message)) return null;
  return lead(tools, since, message.trim().slice(TEAM.length).trim() || 'an example');
}

function lead(tools: readonly ModelTool[], since: readonly PromptItem[], task: string): TeamTurn {
  const recipients = getRecipients(tools.find(({ name }) => name === SEND_MESSAGE));
  const transfer = tools.find(({ name }) => name.startsWith(TRANSFER));
  const answers = answersIn(since);
  const takenOver = takenOverBy(since);
  if (answers.length === 0 && recipients.length > 0) {
    const calls = recipients.map((recipient) => ({
      name: SEND_MESSAGE,
      arguments: JSON.stringify({ recipient_agent: recipient, message: `${PART}${task}` }),
    }));
    return { calls };
  }
  if (takenOver === null && transfer !== undefined) {
    const [recipient] = getRecipients(transfer);
    return { calls: [{ name: transfer.name, arguments: JSON.stringify({ recipient_agent: recipient }) }] };
  }
  if (takenOver === null && answers.length === 0) return { text: 'This agent has no flows to other agents.' };
  const lines = [
    `This is the offline demo model: no provider was asked. You said: ${task}`,
    ...(takenOver === null ? [] : [`${takenOver} has taken the conversation over.`]),
    ...answers.map(({ recipient, output }) => `${recipient} was asked and said: ${output}`),
  ];
  return { text: lines.join('\n') };
}

/** The part of an agent that was asked. It calculates if it has the demo agency's calculator. */
function part(tools: readonly ModelTool[], since: readonly PromptItem[], task: string): TeamTurn {
  const [a, b] = [...task.matchAll(/\d+(?:\.\d+)?/g)].map(([number]) => Number(number));
  const output = since.find((item) => item.kind === 'tool_output');
  if (a === undefined || b === undefined || !tools.some(({ name }) => name === CALCULATE)) {
    return { text: `I would now do my part of “${task}”.` };
  }
  if (output !== undefined) return { text: `${a} times ${b} is ${output.output}.` };
  return { calls: [{ name: CALCULATE, arguments: JSON.stringify({ operation: 'multiply', a, b }) }] };
}

/** The agents that a tool of flows can reach. */
function getRecipients(tool: ModelTool | undefined): readonly string[] {
  const schema = tool?.inputSchema as FlowSchema | undefined;
  return schema?.properties?.recipient_agent?.enum ?? [];
}

interface FlowSchema {
  readonly properties?: { readonly recipient_agent?: { readonly enum?: readonly string[] } };
}

function answersIn(since: readonly PromptItem[]): { readonly recipient: string; readonly output: string }[] {
  return since.flatMap((item) => {
    if (item.kind !== 'tool_call' || item.name !== SEND_MESSAGE) return [];
    const answer = since.find((other) => other.kind === 'tool_output' && other.callId === item.callId);
    const recipient = /"recipient_agent":"([^"]*)"/.exec(item.arguments)?.[1] ?? '';
    return answer?.kind === 'tool_output' ? [{ recipient, output: answer.output }] : [];
  });
}

/** The agent that the conversation was handed over to, or null. */
function takenOverBy(since: readonly PromptItem[]): string | null {
  const last = since.findLast((item) => item.kind === 'tool_output');
  return /^Transfer completed\. You are (.+)\. Please continue the task\.$/.exec(last?.output ?? '')?.[1] ?? null;
}
