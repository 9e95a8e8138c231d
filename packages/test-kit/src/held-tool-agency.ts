import { connect } from 'node:net';
import { defineAgency, defineAgent, defineTool, type IsEnabled, type NamedTool } from '@runwire/agency';

/* Proofs copy this module into agency folders, so it imports no other module of the project. */

const gateTool = (name: string, repeatable: boolean, needsApproval = false) =>
  defineTool({
    name,
    description: 'Ends when the listener on the port answers.',
    inputSchema: {
      type: 'object',
      properties: { port: { type: 'integer' }, note: { type: 'string' } },
      required: ['port'],
    },
    repeatable,
    needsApproval,
    editable: needsApproval,
    remember: needsApproval,
    execute: (input, { callId, idempotencyKey, abortSignal }) =>
      new Promise<string>((resolve, reject) => {
        const { port, note } = input as { port: number; note?: string };
        const socket = connect(port, '127.0.0.1');
        abortSignal.addEventListener('abort', () => socket.destroy());
        socket.on('error', reject);
        socket.on('close', () => reject(new Error('The controller closed the connection.')));
        socket.write(`${JSON.stringify({ callId, idempotencyKey, note })}\n`);
        // The answer is one short line.
        socket.once('data', (data) => {
          resolve(String(data).replace(/\n$/, ''));
          socket.end();
        });
      }),
  });

export const gate = gateTool('gate', false);
const GATES = [gate, gateTool('gate_again', true)];

/** One agent whose tool calls wait until a `ToolController`, in the test's process, lets them end. */
export const heldToolAgency = defineAgency({
  name: 'Gate',
  agents: [
    defineAgent({
      name: 'Porter',
      description: 'Waits.',
      instructions: 'Use your gate.',
      files: false,
      tools: GATES,
    }),
  ],
});

const member = (name: string, tools: readonly NamedTool[] = GATES) =>
  defineAgent({ name, description: `${name} is asked.`, instructions: `You are ${name}.`, files: false, tools });

/** Desk hands over to Lead, who asks Research and Facts; Research asks Clerk. Their tool calls wait, too. */
export const heldTeamAgency = defineAgency({
  name: 'Team',
  agents: ['Desk', 'Lead', 'Research', 'Facts', 'Clerk'].map((name) => member(name)),
  flows: [
    { from: 'Desk', to: 'Lead', kind: 'handoff' },
    { from: 'Lead', to: 'Research' },
    { from: 'Lead', to: 'Facts' },
    { from: 'Research', to: 'Clerk' },
  ],
});

const locate = defineTool({ name: 'locate', description: 'Only the caller can.', inputSchema: { type: 'object' } });

/** A person must approve every `pay`, and the caller answers `locate`. Lead asks Billing, and Billing asks Clerk. */
const asking = (needsApproval: boolean) => {
  const tools = [gateTool('pay', false, needsApproval), locate];
  return defineAgency({
    name: 'Asking',
    agents: ['Lead', 'Billing', 'Clerk'].map((name) => member(name, tools)),
    entryPoints: ['Lead'],
    flows: [
      { from: 'Lead', to: 'Billing' },
      { from: 'Billing', to: 'Clerk' },
    ],
  });
};

export const askingAgency = asking(true);
/** The same after an edit: no call needs approval any more. */
export const trustingAgency = asking(false);
/** After another edit the tools are gone. */
export const emptyAgency = defineAgency({ name: 'Empty', agents: [member('Lead', [])] });

const keepTool = (name: string, more: { readonly repeatable: boolean; readonly isEnabled?: IsEnabled }) =>
  defineTool({
    name,
    description: 'Keeps its id in the chat.',
    inputSchema: { type: 'object', required: ['id', 'known', 'pauseMs'] },
    ...more,
    execute: async (input, { state }) => {
      const { id, known, pauseMs } = input as { id: string; known: readonly string[]; pauseMs: number };
      const seen = known.filter((one) => state.get(one) !== undefined);
      state.set(id, seen);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      state.set('last', id);
      return seen.join(' ');
    },
  });

/**
 * Each call keeps which of the known calls it finds in the chat's state. The model does not see `keep_sometimes` in steps that begin at a
 * millisecond that 4 divides: a later attempt could decide otherwise.
 */
export const keepingAgency = defineAgency({
  name: 'Keeping',
  agents: [
    member('Keeper', [
      keepTool('keep', { repeatable: false }),
      keepTool('keep_again', { repeatable: true }),
      keepTool('keep_sometimes', { repeatable: true, isEnabled: ({ date }) => date.getTime() % 4 !== 0 }),
    ]),
  ],
});

/** Hand-offs that last. Billing can keep values, too. */
export const lastingAgency = defineAgency({
  name: 'Lasting',
  agents: [
    member('Triage', []),
    member('Billing', [keepTool('keep_again', { repeatable: true })]),
    member('Clerk', []),
  ],
  entryPoints: ['Triage'],
  flows: [
    { from: 'Triage', to: 'Billing', kind: 'handoff', lasts: 'chat' },
    { from: 'Billing', to: 'Clerk', kind: 'handoff', lasts: 'chat' },
    { from: 'Clerk', to: 'Triage', kind: 'handoff', lasts: 'chat' },
  ],
});
