import { beforeEach } from 'node:test';
import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import { type StoreName, TEST_API_KEY } from '@runwire/test-kit';
import { z } from 'zod';
import { ScriptedServer } from './scripted-server.ts';
import { UiChat, type UiChatOptions } from './ui-chat.ts';

/* A shop that `useChat` talks to. */

/** The refunds that were made. */
export const refunds: number[] = [];

const refund = defineTool({
  name: 'refund',
  description: 'Pays money back.',
  inputSchema: z.object({ cents: z.number().int() }),
  needsApproval: ({ cents }) => cents > 10,
  execute: ({ cents }) => {
    refunds.push(cents);
    return `refunded ${cents}`;
  },
});

const stock = defineTool({
  name: 'stock',
  description: 'Counts.',
  inputSchema: z.object({ of: z.string() }),
  execute: ({ of }) => {
    if (of === 'void') throw new Error('nothing to count');
    return { of, count: 3 };
  },
});

const position = defineTool({ name: 'position', description: 'Where the user is.', inputSchema: z.object({}) });

export const shopAgent = (name: string, more: object = {}) =>
  defineAgent({ name, description: `${name} is asked.`, instructions: `You are ${name}.`, files: false, ...more });

const shop = defineAgency({
  name: 'Shop',
  agents: [
    shopAgent('Lead', { tools: { refund, stock, position } }),
    shopAgent('Billing', { tools: [refund] }),
    shopAgent('Closer'),
  ],
  entryPoints: ['Lead', 'Closer'],
  flows: [
    { from: 'Lead', to: 'Billing' },
    { from: 'Lead', to: 'Closer', kind: 'handoff' },
  ],
});

/** A server for all tests of a `describe`, and an integration for each of them. */
export function shareUiShop(store: StoreName) {
  const rig = ScriptedServer.shared({ store, agencies: { shop } });
  const at = { integration: '', api: '' };
  beforeEach(async () => {
    refunds.length = 0;
    at.integration = await rig.integration({ agency: 'shop', clientTools: true });
    at.api = `${rig.server.url}/v2/integrations/${at.integration}/ai-sdk/chat`;
  });
  return {
    rig,
    at,
    open: (options: Partial<UiChatOptions> = {}) =>
      new UiChat({ id: 'c', api: at.api, token: TEST_API_KEY, ...options }),
    runs: async () => (await rig.api.get(`/v2/integrations/${at.integration}/runs`)).body.items,
    post: (path: string, body: unknown, headers: Record<string, string> = {}) =>
      fetch(`${at.api}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TEST_API_KEY}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
  };
}

/** Waits until the chat has finished so many answers. */
export async function idle(chat: UiChat, answers: number): Promise<void> {
  while (chat.finished.length < answers && chat.error === undefined) await new Promise((next) => setTimeout(next, 10));
}
