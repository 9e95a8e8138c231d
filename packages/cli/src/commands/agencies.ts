import type { Agency, AgencyDefinition } from '@runwire/client';
import type { CliCommand, Context } from '../command.ts';
import { wholeNumber } from '../command.ts';
import { type ConnectionOptions, connect } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { type ListOptions, note, print, printJson, printList, printTable, shortened, visible } from '../output.ts';

export function addAgencyCommands(program: CliCommand, { env }: Context): void {
  const agencies = program.command('agencies').explain({ summary: 'check agencies, and list those of a server' });
  agencies
    .command('check')
    .explain({
      summary: 'check an agency, or all agencies in a folder, without a server',
      details: [
        'It prints each fault with file, line, column and what to write instead, as GET /v2/agencies does.',
        'If the files have no fault, it connects the MCP servers once, and prints which ones fail and why. Servers that need values of a run are left out.',
        'Set the same provider keys as for the server: a model without a key is a fault.',
        `Exit code ${EXIT.failed}: an agency has a fault.`,
      ],
      examples: ['runwire agencies check agencies', 'runwire agencies check agencies/support'],
    })
    .argument('FOLDER')
    .printsJson('print {"report", "complete"} as JSON')
    .action(async (folder: string, { json }: { json?: true }) => {
      const { checkAgencies } = await import('@runwire/server');
      const { text, isWhole } = await checkAgencies(env, folder);
      if (json) printJson({ report: text, complete: isWhole });
      else print(text);
      if (!isWhole) process.exitCode = EXIT.failed;
    });
  agencies
    .command('show')
    .explain({
      summary: 'show the instructions and tools of the agents of an agency',
      details: ['It shows the version that new runs use. Placeholders are not filled in.'],
      examples: ['runwire agencies show support'],
    })
    .argument('AGENCY')
    .printsJson('print the definition as JSON')
    .asksServer()
    .action(async (agency: string, { json, ...options }: ConnectionOptions & { json?: true }) => {
      const client = await connect(env, options);
      const definition = await client.agencies.definition({ agency });
      if (json) return printJson(definition);
      if (definition.sharedInstructions !== '') print(visible(`${definition.sharedInstructions}\n`));
      printGuardrails(definition);
      for (const { name, instructions, tools, guardrails } of definition.agents) {
        print(visible(`# ${name}\n\n${instructions ?? 'A function of the agency writes the instructions.'}\n`));
        if (tools.length > 0) {
          printTable(tools, [
            { title: 'tool', value: (tool) => tool.name },
            { title: 'server', value: ({ server }) => server },
            { title: 'description', value: ({ description }) => description, canShrink: true },
          ]);
          print('');
        }
        printGuardrails({ guardrails });
      }
    });
  agencies
    .command('list')
    .explain({
      summary: 'list the agencies of a server',
      details: [
        'The last column has the first fault of an agency whose files are broken. What is wrong with an MCP server, and why the process of an agency ended last, is printed to standard error.',
      ],
      examples: ['runwire agencies list'],
    })
    .option('--limit <N>', 'the largest number of agencies; default: 50', wholeNumber, 50)
    .printsJson('print the agencies as a JSON array, as GET /v2/agencies does')
    .asksServer()
    .action(async (options: ListOptions & ConnectionOptions) => {
      const client = await connect(env, options);
      const listed = await printList(client.agencies.list(), options, [
        { title: 'agency', value: ({ agency }) => agency },
        { title: 'agents', value: ({ agents }) => agents.map(({ name }) => name).join(', '), canShrink: true },
        { title: 'source', value: ({ source }) => source },
        { title: 'mcp', value: ({ mcp }) => mcp.map(({ server, state }) => `${server}: ${state}`).join(', ') || null },
        { title: 'process', value: ({ process: { state } }) => (state === 'none' ? null : state) },
        { title: 'fault', value: ({ error }) => error?.message, canShrink: true },
      ]);
      if (options.json) return;
      for (const { agency, mcp, process: code } of listed) {
        if (code.lastFault !== null) note(processLine(agency, code));
        for (const { server, error } of mcp) {
          if (error !== null) note(visible(`The MCP server ${server} of the agency ${agency} has a problem: ${error}`));
        }
      }
    });
}

/** One line about why the process of an agency ended last. */
function processLine(agency: string, { state, restarts, lastFault }: Agency['process']): string {
  const { message = '', tool = null, callId = null, runId = null } = lastFault ?? {};
  const parts = Object.entries({ tool, call: callId, run: runId }).filter(([, value]) => value !== null);
  const where = parts.length === 0 ? '' : ` (${parts.map(([name, value]) => `${name} ${value}`).join(', ')})`;
  const line = `The process of the agency ${agency} is ${state}; restarts: ${restarts}; last fault${where}: ${message}`;
  return shortened(line, Number.POSITIVE_INFINITY);
}

function printGuardrails({ guardrails }: Pick<AgencyDefinition, 'guardrails'>): void {
  if (guardrails.length === 0) return;
  printTable(guardrails, [
    { title: 'guardrail', value: ({ name }) => name },
    { title: 'checks', value: ({ on }) => on },
  ]);
  print('');
}
