import type { CreateIntegrationRequest, Integration } from '@runwire/client';
import { type CliCommand, type Context, repeated, wholeNumber } from '../command.ts';
import { type ConnectionOptions, connect } from '../connection.ts';
import { UsageError } from '../exit-codes.ts';
import { type ListOptions, note, printFields, printJson, printList, time } from '../output.ts';
import { jsonOrText } from '../request-options.ts';

interface FieldOptions extends ConnectionOptions {
  readonly agency?: string;
  readonly name?: string;
  readonly set?: readonly string[];
  readonly json?: true;
}

const SETTINGS = 'docs/accounts.md lists the settings of an integration.';
const ONE = 'print the integration as JSON';

export function addIntegrationCommands(program: CliCommand, { env }: Context): void {
  const integrations = program.command('integrations').explain({ summary: 'what backends call' });
  integrations
    .command('list')
    .explain({ summary: 'list integrations', examples: ['runwire integrations list'] })
    .option('--limit <N>', 'at most this many integrations; default: 50', wholeNumber, 50)
    .printsJson('print the integrations as a JSON array')
    .asksServer()
    .action(async (options: ListOptions & ConnectionOptions) => {
      const client = await connect(env, options);
      await printList(client.integrations.list(), options, [
        { title: 'integration', value: ({ apiIntegrationId }) => apiIntegrationId },
        { title: 'agency', value: ({ agency }) => agency },
        { title: 'agent', value: ({ defaultAgent }) => defaultAgent },
        { title: 'model', value: ({ model }) => model, canShrink: true },
        { title: 'name', value: ({ name }) => name, canShrink: true },
      ]);
    });
  integrations
    .command('show')
    .explain({ summary: 'show an integration', examples: ['runwire integrations show demo'] })
    .argument('INTEGRATION')
    .printsJson(ONE)
    .asksServer()
    .action(async (apiIntegrationId: string, options: FieldOptions) => {
      const client = await connect(env, options);
      printIntegration(await client.integrations.get({ apiIntegrationId }), options);
    });
  withFields(integrations.command('create'))
    .explain({
      summary: 'create an integration',
      details: [SETTINGS],
      examples: [
        'runwire integrations create support --agency support',
        'runwire integrations create mail --agency support --set maxRunSeconds=60',
      ],
    })
    .argument('INTEGRATION')
    .action(async (apiIntegrationId: string, options: FieldOptions) => {
      const client = await connect(env, options);
      printIntegration(await client.integrations.create({ apiIntegrationId, ...getFields(options) }), options);
    });
  withFields(integrations.command('update'))
    .explain({
      summary: 'change settings of an integration',
      details: [SETTINGS],
      examples: ['runwire integrations update support --set fileAccess=member'],
    })
    .argument('INTEGRATION')
    .action(async (apiIntegrationId: string, options: FieldOptions) => {
      const client = await connect(env, options);
      printIntegration(await client.integrations.update({ apiIntegrationId, ...getFields(options) }), options);
    });
  integrations
    .command('delete')
    .explain({
      summary: 'delete an integration with its chats, members and files',
      details: ['Its id can never be used again.'],
      examples: ['runwire integrations delete support'],
    })
    .argument('INTEGRATION')
    .printsJson('print {"deleted"} as JSON')
    .asksServer()
    .action(async (apiIntegrationId: string, options: FieldOptions) => {
      const client = await connect(env, options);
      await client.integrations.delete({ apiIntegrationId });
      if (options.json) printJson({ deleted: apiIntegrationId });
      else note(`The integration ${apiIntegrationId} is deleted.`);
    });
}

const withFields = (command: CliCommand) =>
  command
    .option('--agency <NAME>', 'the agency that answers')
    .option('--name <NAME>', 'the name for people')
    .option('--set <FIELD=VALUE>', 'any other setting; the value is JSON or text; may be repeated', repeated)
    .printsJson(ONE)
    .asksServer();

/** The server checks names and values. */
function getFields({ agency, name, set = [] }: FieldOptions): Omit<CreateIntegrationRequest, 'apiIntegrationId'> {
  const others = set.map((pair) => {
    const [, field = '', value = ''] = /^(\w+)=([\s\S]*)$/.exec(pair) ?? [];
    if (field === '') throw new UsageError(`--set has \`${pair}\`; write FIELD=VALUE, such as maxRunSeconds=60.`);
    return [field, jsonOrText(value)];
  });
  return {
    agency,
    name,
    ...Object.fromEntries(others),
  };
}

function printIntegration(integration: Integration, { json }: { readonly json?: true }): void {
  if (json) {
    printJson(integration);
    return;
  }
  const { apiIntegrationId, createdAt, updatedAt, allowances, ...settings } = integration;
  printFields({
    integration: apiIntegrationId,
    ...settings,
    compatibleApis: settings.compatibleApis.join(', ') || 'none',
    allowances: allowances === null ? 'off' : `${allowances.limit} ${allowances.unit} per ${allowances.period}`,
    created: time(createdAt),
    updated: time(updatedAt),
  });
}
