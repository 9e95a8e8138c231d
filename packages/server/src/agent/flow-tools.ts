import { parseOwnJson } from '@runwire/lib/strict-json.ts';
import type { ToolCallItem } from '../domain/run/events.ts';
import type { GuardrailRecord } from '../domain/run/guardrail-record.ts';
import { handOffName } from '../domain/run/hand-off-name.ts';
import type { ModelTool } from './ports.ts';
import type { Flow, TeamAgent } from './team.ts';

/*
 * The tools by which an agent reaches others. Names and arguments are those of agency-swarm.
 */

export const SEND_MESSAGE = 'send_message';

export function flowTools(flows: readonly Flow[]): readonly ModelTool[] {
  const delegates = flows.filter(({ kind }) => kind === 'delegate');
  const handOffs = flows.filter(({ kind }) => kind === 'handoff');
  return [...(delegates.length === 0 ? [] : [sendMessage(delegates)]), ...handOffs.map(transferTo)];
}

function sendMessage(delegates: readonly Flow[]): ModelTool {
  const recipients = delegates.map(({ to, description }) => `- ${to}: ${description}`).join('\n');
  return {
    name: SEND_MESSAGE,
    description: `Sends a message to another agent and returns its answer. Messages to several agents in one answer are sent concurrently. The agents:\n${recipients}`,
    inputSchema: {
      type: 'object',
      properties: {
        recipient_agent: { type: 'string', enum: delegates.map(({ to }) => to), description: 'Who gets the message.' },
        message: {
          type: 'string',
          description: 'The task, with everything that the agent must know: it does not see this conversation.',
        },
        additional_instructions: { type: 'string', description: 'How to do it, for this message only. May be empty.' },
      },
      required: ['recipient_agent', 'message'],
      additionalProperties: false,
    },
  };
}

function transferTo({ to, description }: Flow): ModelTool {
  return {
    name: handOffName(to),
    description: `Hands the conversation over to ${to}, who then answers the user. ${description}`.trim(),
    inputSchema: {
      type: 'object',
      properties: { recipient_agent: { type: 'string', enum: [to], description: 'The agent that takes over.' } },
      additionalProperties: false,
    },
  };
}

/** What a call means. `problem` is for the model. */
export type FlowCall =
  | { readonly kind: 'tool' }
  | { readonly kind: 'handoff'; readonly flow: Flow }
  | { readonly kind: 'delegate'; readonly flow: Flow; readonly message: string; readonly instructions: string }
  | { readonly kind: 'problem'; readonly problem: string }
  | { readonly kind: 'blocked'; readonly reason: string };

/** Decides for each call of an answer what it means, by the calls before it only. `changes` are those of guardrails. */
export function flowCalls(
  { flows }: Pick<TeamAgent, 'flows'>,
  calls: readonly ToolCallItem[],
  changes?: GuardrailRecord['calls'],
): readonly FlowCall[] {
  const asked = new Set<string>();
  let handedOff = false;
  return calls.map((call): FlowCall => {
    const change = changes?.[call.callId];
    if (change !== undefined && 'blocked' in change) return { kind: 'blocked', reason: change.blocked };
    const handOff = flows.find(({ kind, to }) => kind === 'handoff' && handOffName(to) === call.name);
    if (handOff !== undefined) {
      if (handedOff) return { kind: 'problem', problem: 'Only the first hand-off of an answer counts.' };
      handedOff = true;
      return { kind: 'handoff', flow: handOff };
    }
    if (call.name !== SEND_MESSAGE || flows.every(({ kind }) => kind !== 'delegate')) return { kind: 'tool' };
    const delegated = delegation(flows, call);
    if (delegated.kind !== 'delegate') return delegated;
    const { to } = delegated.flow;
    if (asked.has(to)) {
      return {
        kind: 'problem',
        problem: `${to} is answering another message; wait for its answer, then send this one.`,
      };
    }
    asked.add(to);
    return delegated;
  });
}

function delegation(flows: readonly Flow[], call: ToolCallItem): FlowCall {
  let given: unknown;
  try {
    given = parseOwnJson(call.text);
  } catch {
    return { kind: 'problem', problem: 'The arguments are not valid JSON.' };
  }
  const {
    recipient_agent: to,
    message,
    additional_instructions: instructions,
  } = (given ?? {}) as Record<string, unknown>;
  const flow = flows.find((one) => one.kind === 'delegate' && one.to === to);
  if (flow === undefined) {
    const names = flows.filter(({ kind }) => kind === 'delegate').map((one) => `\`${one.to}\``);
    return { kind: 'problem', problem: `\`recipient_agent\` must be one of ${names.join(', ')}.` };
  }
  if (typeof message !== 'string' || message.trim() === '') {
    return { kind: 'problem', problem: '`message` must be a text that is not blank.' };
  }
  return { kind: 'delegate', flow, message, instructions: typeof instructions === 'string' ? instructions.trim() : '' };
}
