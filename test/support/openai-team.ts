import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import { z } from 'zod';

const agent = (name: string, more: object = {}) =>
  defineAgent({ name, description: `${name} is asked.`, instructions: `You are ${name}.`, files: false, ...more });

const clock = defineTool({ name: 'clock', description: 'The time.', inputSchema: z.object({}), execute: () => '12:00' });

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
  agents: [
    agent('Lead', { tools: { clock, breaks, refund } }),
    agent('Writer', { tools: { clock } }),
    agent('Closer'),
  ],
  entryPoints: ['Lead', 'Closer'],
  flows: [
    { from: 'Lead', to: 'Writer' },
    { from: 'Lead', to: 'Closer', kind: 'handoff' },
  ],
});
