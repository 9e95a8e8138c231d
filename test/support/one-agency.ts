import type { Files } from './agencies-folder.ts';

const TRIAGE = 'You find out what the user needs.\n\nThe user has {{user_context.plan}}. Today is {{date}}.';
const BILLING = 'You answer questions about invoices.';
const REPORTER = 'You write reports.';
const SHARED = 'You work for Example Ltd.';

const indented = (text: string, by: number) =>
  text.replaceAll('\n', `\n${' '.repeat(by)}`).replaceAll(/\n +\n/g, '\n\n');

const TOOLS = `export const find_invoice = {
  description: 'Finds an invoice.',
  inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'], additionalProperties: false },
  execute: ({ id }: { id: string }) => \`Invoice \${id}\`,
};
`;

const YAML = `name: Support
sharedInstructions: ./shared.md
entryPoints: [Triage]
contextToModel: true
limits: { steps: 20 }
toolFiles: [./tools.ts]
`;
const FLOWS = `flows:
  - Triage => Billing
  - { from: Billing, to: Reporter }
`;

/** One agency in the three forms. Each form's folder has the name of its \`source\`. */
export const ONE_AGENCY: Readonly<Record<'yaml' | 'markdown' | 'typescript', Files>> = {
  yaml: {
    'shared.md': `${SHARED}\n`,
    'tools.ts': TOOLS,
    'agency.yaml': `${YAML}agents:
  - name: Triage
    description: Finds out what the user needs.
    instructions: |
      ${indented(TRIAGE, 6)}
    tools: [find_invoice]
    settings: { temperature: 0.2 }
    reasoning: { effort: low }
    starters: [Where is my invoice?]
  - name: Billing
    description: Invoices.
    instructions: ${BILLING}
    files: false
  - name: Reporter
    description: Reports.
    instructions: ${REPORTER}
    tools: [read_file]
${FLOWS}`,
  },
  markdown: {
    'shared.md': SHARED,
    'tools.ts': TOOLS,
    'agency.yaml': `${YAML}${FLOWS}`,
    'agents/1-triage.md': `---
name: Triage
description: Finds out what the user needs.
tools: find_invoice
settings: { temperature: 0.2 }
reasoning: { effort: low }
starters: [Where is my invoice?]
---

${TRIAGE}
`,
    'agents/2-billing.md': `---\nname: Billing\ndescription: Invoices.\nfiles: false\n---\n${BILLING}\n`,
    'agents/3-reporter.md': `---\nname: Reporter\ndescription: Reports.\ntools: Read\nmodel: inherit\n---\n${REPORTER}\n`,
  },
  typescript: {
    'shared.md': SHARED,
    'tools.ts': TOOLS,
    'agency.ts': `import { type AgencyDefinition, defineAgency, defineAgent, defineTool, delegate, handOff } from '@runwire/agency';
import { find_invoice } from './tools.ts';

const triage = defineAgent({
  name: 'Triage',
  description: 'Finds out what the user needs.',
  instructions: ({ date, userContext }) =>
    \`You find out what the user needs.\\n\\nThe user has \${(userContext as { plan: string }).plan}. Today is \${date}.\`,
  tools: [defineTool({ name: 'find_invoice', ...find_invoice })],
  settings: { temperature: 0.2 },
  reasoning: { effort: 'low' },
  starters: ['Where is my invoice?'],
});
const billing = defineAgent({ name: 'Billing', description: 'Invoices.', instructions: '${BILLING}', files: false });
const reporter = defineAgent({
  name: 'Reporter',
  description: 'Reports.',
  instructions: '${REPORTER}',
  tools: ['read_file'],
});
export default defineAgency({
  name: 'Support',
  sharedInstructions: { file: './shared.md' },
  agents: [triage, billing, reporter],
  entryPoints: [triage],
  contextToModel: true,
  limits: { steps: 20 },
  flows: [handOff(triage, billing), delegate(billing, reporter)],
}) satisfies AgencyDefinition;
`,
  },
};
