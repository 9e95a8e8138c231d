import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import OpenAI from 'openai';
import type { Response, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { z } from 'zod';
import type { ScriptedServer } from './scripted-server.ts';

const agent = (name: string, more: object = {}) =>
  defineAgent({ name, description: `${name} is asked.`, instructions: `You are ${name}.`, files: false, ...more });

const clock = defineTool({
  name: 'clock',
  description: 'The time.',
  inputSchema: z.object({}),
  execute: () => '12:00',
});

const breaks = defineTool({
  name: 'breaks',
  description: 'Fails.',
  inputSchema: z.object({}),
  execute: () => {
    throw new Error('it broke');
  },
});

/** The refunds that were made. */
export const refunds: number[] = [];

const refund = defineTool({
  name: 'refund',
  description: 'Pays money back.',
  inputSchema: z.object({ cents: z.number().int() }),
  needsApproval: true,
  execute: ({ cents }) => {
    refunds.push(cents);
    return `refunded ${cents}`;
  },
});

/** An agency with everything that an answer can show: tools, approvals, a delegated agent, a hand-off. */
export const team = defineAgency({
  name: 'Team',
  agents: [agent('Lead', { tools: { clock, breaks, refund } }), agent('Writer', { tools: { clock } }), agent('Closer')],
  entryPoints: ['Lead', 'Closer'],
  flows: [
    { from: 'Lead', to: 'Writer' },
    { from: 'Lead', to: 'Closer', kind: 'handoff' },
  ],
});

/** A post, as the client sent it. */
export interface Post {
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
}

/** The official client, unchanged, for a new integration of the team; and what it sent. */
export async function openaiClient(rig: ScriptedServer, fields: object = {}) {
  const id = await rig.integration({ agency: 'team', ...fields });
  const posts: Post[] = [];
  const apiKey = rig.api.apiKey ?? '';
  const baseURL = `${rig.server.url}/v2/integrations/${id}/openai/v1`;
  return { id, posts, client: clientAt(baseURL, apiKey, posts), baseURL, apiKey };
}

export function clientAt(baseURL: string, apiKey: string, posts: Post[] = []): OpenAI {
  return new OpenAI({
    baseURL,
    apiKey,
    fetch: async (url, init) => {
      const answer = await fetch(url as string, init as RequestInit);
      if (init?.method?.toUpperCase() === 'POST') {
        posts.push({ path: new URL(String(url)).pathname, status: answer.status, headers: answer.headers });
      }
      return answer;
    },
  });
}

export interface ReadResponse {
  readonly events: readonly ResponseStreamEvent[];
  readonly response: Response;
}

const TERMINAL: ReadonlySet<string> = new Set(['response.completed', 'response.failed', 'response.incomplete']);

/** Reads a stream to its end. Throws if it ends without a terminal event, or if the terminal event is not the last. */
export async function readAll(stream: AsyncIterable<ResponseStreamEvent>): Promise<ReadResponse> {
  const events: ResponseStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  const ends = events.filter(({ type }) => TERMINAL.has(type));
  const last = events.at(-1);
  if (ends.length !== 1 || ends[0] !== last) throw new Error(`The stream has ${ends.length} terminal events.`);
  return { events, response: (last as unknown as { response: Response }).response };
}

/** The types of the events, equal ones once. */
export const eventTypes = (events: readonly ResponseStreamEvent[]) =>
  events.map(({ type }) => type.replace(/^response\./, '')).filter((type, index, all) => type !== all[index - 1]);

/** An item's type with what it is about. */
export const shownItems = ({ output }: Pick<Response, 'output'>) =>
  output.map((item) => {
    switch (item.type) {
      case 'message':
        return ['message', item.status, item.content.map((part) => ('text' in part ? part.text : '')).join('')];
      case 'reasoning':
        return ['reasoning', item.summary.map(({ text }) => text).join('')];
      case 'mcp_call':
        return ['mcp_call', item.name, item.arguments, item.output ?? item.error];
      case 'mcp_approval_request':
      case 'function_call':
        return [item.type, item.name, item.arguments];
      default:
        return [item.type];
    }
  });
