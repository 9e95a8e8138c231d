import { defineTool } from '@runwire/agency';
import { z } from 'zod';

const ferries: Record<string, string[]> = { aegina: ['07:45', '12:00', '18:30'], hydra: ['09:15', '16:00'] };
export const get_ferry_times = defineTool({
  name: 'get_ferry_times',
  description: 'Returns the ferries of today to an island.',
  inputSchema: z.object({ island: z.string().describe('The name of the island.') }),
  execute: ({ island }) => ferries[island.toLowerCase()] ?? `No ferries to ${island}.`,
});
