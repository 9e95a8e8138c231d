import { defineAgency, defineAgent, defineTool } from '@runwire/agency';

const schema = { type: 'object' };
const refund = defineTool({
  ...{ name: 'refund', description: 'Pays money back.', inputSchema: schema, needsApproval: true },
  execute: (_, { approval }) => `refunded: ${approval?.reason}`,
});
const pack = defineTool({
  ...{ name: 'pack', description: 'Packs the goods.', inputSchema: schema },
  execute: (_, { progress }) => {
    progress('1 of 2');
    return 'packed';
  },
});
const position = defineTool({ name: 'position', description: 'Tells where the user is.', inputSchema: schema });
/** One agent with three tools: the first needs approval, the second reports progress, only the caller can run the third. */
export const shop = defineAgency({
  name: 'Shop',
  agents: [
    defineAgent({
      name: 'Clerk',
      description: 'Sells.',
      instructions: 'Sell.',
      tools: [refund, pack, position],
      files: false,
    }),
  ],
});
