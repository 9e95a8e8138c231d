import type { Files } from '../support/agencies-folder.ts';
import { scripted } from '../support/mcp-agency.ts';

const TOOLS = `import { defineTool } from '@runwire/agency';

const order = { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] };

export const find_order = defineTool({
  name: 'find_order',
  description: 'Finds an order with its parcels.',
  inputSchema: order,
  execute: (input) => ({ ...(input as object), parcels: 2, status: 'sent' }),
});

export const list_parcels = defineTool({
  name: 'list_parcels',
  description: 'Lists the parcels of an order.',
  inputSchema: order,
  execute: () => {
    throw new Error('The warehouse does not answer.');
  },
});

export const refund = defineTool({
  name: 'refund',
  description: 'Pays money back. A person must approve it.',
  inputSchema: {
    type: 'object',
    properties: { order: { type: 'string' }, cents: { type: 'integer' } },
    required: ['order', 'cents'],
  },
  needsApproval: true,
  editable: true,
  remember: true,
  execute: (input) => ({ ...(input as object), refunded: true }),
});
`;

/** Three agents with a hand-off and a delegation, tools, of which `refund` asks for an approval, and two MCP servers. */
const SUPPORT = `name: Support
sharedInstructions: Answer in the language of the user.
toolFiles: [./tools.ts]
entryPoints: [Triage, Billing]
mcp:
  warehouse: { ${scripted()} }
  carrier: { command: no-such-program-of-the-carrier }
agents:
  - name: Triage
    description: Finds out what the user needs.
    instructions: You find out what the user needs.
    tools: [find_order, list_parcels]
    mcp: [warehouse]
    reasoning: { effort: low }
    starters: [Where is my order?, I want my money back.]
  - name: Billing
    description: Invoices and refunds.
    instructions: You answer questions about invoices.
    tools: [refund, find_order]
    mcp: []
  - name: Research
    description: Reads what is known about an order.
    instructions: You read files.
    tools: [read_file, search_files]
    mcp: [carrier]
flows:
  - Triage => Billing
  - Triage -> Research
`;

/** Its second agent has no name, and its flow leads nowhere. */
const BROKEN = `name: Returns
agents:
  - name: Desk
    description: Takes parcels back.
    instructions: You take parcels back.
  - description: Checks them.
    instructions: You check what came back.
flows:
  - Desk => Checker
`;

/** The folder of agencies of every console rig. */
export const SEED_AGENCIES: Files = {
  'support/agency.yaml': SUPPORT,
  'support/tools.ts': TOOLS,
  'returns/agency.yaml': BROKEN,
  'half-written/agency.ts':
    "import { defineAgency } from '@runwire/agency';\n\nexport default defineAgency({ name: 'Half', agents: [\n",
};
