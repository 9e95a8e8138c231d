import { defineAgency, defineAgent, defineTool } from '@runwire/agency';

/** Two entry points and two tools, for tests that need more than the demo agency. */
export const testAgency = defineAgency({
  name: 'Test',
  agents: [
    defineAgent({
      name: 'Clerk',
      description: 'Looks things up.',
      instructions: 'Use your tools.',
      files: false,
      tools: [
        defineTool({
          name: 'echo',
          description: 'Says it again.',
          inputSchema: { type: 'object' },
          execute: (input, call) => ({ input, key: call.idempotencyKey, context: call.userContext ?? null }),
        }),
        defineTool({
          name: 'break',
          description: 'Fails.',
          inputSchema: { type: 'object' },
          execute: () => {
            throw new Error('it broke');
          },
        }),
      ],
    }),
    defineAgent({ name: 'Writer', description: 'Writes.', instructions: 'Write well.', files: false }),
  ],
});
