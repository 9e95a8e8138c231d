import type { UpdateWebhookRequest, WebhookEndpoint, WebhookEndpointWithSecret } from '@runwire/client';
import { type CliCommand, type Context, wholeNumber } from '../command.ts';
import { connectToIntegration, type IntegrationOptions } from '../connection.ts';
import { UsageError } from '../exit-codes.ts';
import { type ListOptions, note, print, printFields, printJson, printList, time } from '../output.ts';
import { toEvents } from '../request-options.ts';
import { addDeliveryCommands } from './deliveries.ts';
import { addListenCommand } from './listen.ts';

interface OneOptions extends IntegrationOptions {
  readonly json?: true;
}

interface EndpointOptions extends OneOptions {
  readonly events?: string;
  readonly description?: string;
}

interface UpdateOptions extends EndpointOptions {
  readonly address?: string;
  readonly pause?: true;
  readonly resume?: true;
}

const ONE = 'print the endpoint as JSON';
const EVENTS = 'types of events, with commas between them; default: all';

export function addWebhookCommands(program: CliCommand, context: Context): void {
  const webhooks = program.command('webhooks').explain({ summary: 'the addresses that events are posted to' });
  addListenCommand(webhooks, context);
  addListCommand(webhooks, context);
  addShowCommand(webhooks, context);
  addCreateCommand(webhooks, context);
  addUpdateCommand(webhooks, context);
  addRotateCommand(webhooks, context);
  addDeleteCommand(webhooks, context);
  addDeliveryCommands(webhooks, context);
}

function addListCommand(webhooks: CliCommand, { env }: Context): void {
  webhooks
    .command('list')
    .explain({
      summary: 'list the endpoints of an integration, the newest first',
      examples: ['runwire webhooks list'],
    })
    .option('--limit <N>', 'the largest number of endpoints; default: 50', wholeNumber, 50)
    .printsJson('print the endpoints as a JSON array')
    .asksIntegration()
    .action(async (options: ListOptions & IntegrationOptions) => {
      const client = await connectToIntegration(env, options);
      await printList(client.webhooks.list(), options, [
        { title: 'endpoint', value: ({ endpointId }) => endpointId },
        { title: 'state', value: describeState },
        { title: 'failing since', value: ({ failingSince }) => time(failingSince) },
        { title: 'events', value: ({ events }) => events.join(', '), canShrink: true },
        { title: 'address', value: ({ url }) => url, canShrink: true },
        { title: 'description', value: ({ description }) => description, canShrink: true },
      ]);
    });
}

function addShowCommand(webhooks: CliCommand, { env }: Context): void {
  webhooks
    .command('show')
    .explain({ summary: 'show an endpoint', examples: ['runwire webhooks show whe_01m7'] })
    .argument('ENDPOINT')
    .printsJson(ONE)
    .asksIntegration()
    .action(async (endpointId: string, options: OneOptions) => {
      const client = await connectToIntegration(env, options);
      printEndpoint(await client.webhooks.get({ endpointId }), options.json === true);
    });
}

function addCreateCommand(webhooks: CliCommand, { env }: Context): void {
  webhooks
    .command('create')
    .explain({
      summary: 'create an endpoint and print its secret once',
      details: [
        'The address must be https and public, unless RUNWIRE_WEBHOOK_ALLOW of the server allows it.',
        'Your backend checks signatures with the secret; docs/webhook-receivers.md shows how.',
      ],
      examples: [
        'runwire webhooks create https://example.com/hook',
        'runwire webhooks create https://example.com/hook --events run.failed',
      ],
    })
    .argument('ADDRESS')
    .option('--events <TYPES>', EVENTS)
    .option('--description <TEXT>', 'a note for people')
    .printsJson('print the endpoint with its secret as JSON')
    .asksIntegration()
    .action(async (url: string, { events, description, json, ...options }: EndpointOptions) => {
      const client = await connectToIntegration(env, options);
      const endpoint = await client.webhooks.create({ url, ...toEvents(events), description });
      printSecret(endpoint, json === true);
    });
}

function addUpdateCommand(webhooks: CliCommand, { env }: Context): void {
  webhooks
    .command('update')
    .explain({
      summary: 'change, pause or resume an endpoint',
      details: ['Events of a pause are kept: `runwire webhooks replay` sends them later.'],
      examples: [
        'runwire webhooks update whe_01m7 --address https://example.com/v2/hook',
        'runwire webhooks update whe_01m7 --pause',
        'runwire webhooks update whe_01m7 --resume',
      ],
    })
    .argument('ENDPOINT')
    .option('--address <URL>', 'another address')
    .option('--events <TYPES>', 'other types of events, with commas between them, or `*` for all')
    .option('--description <TEXT>', 'a note for people')
    .option('--pause', 'send no events')
    .option('--resume', 'send events again, after a pause or after the server disabled the endpoint')
    .printsJson(ONE)
    .asksIntegration()
    .action(async (endpointId: string, options: UpdateOptions) => {
      const fields = getFields(options);
      const client = await connectToIntegration(env, options);
      printEndpoint(await client.webhooks.update({ endpointId, ...fields }), options.json === true);
    });
}

function getFields({ address, events, description, pause, resume }: UpdateOptions): UpdateWebhookRequest {
  if (pause && resume) throw new UsageError('Use either --pause or --resume.');
  const active = pause || resume ? resume === true : undefined;
  const fields = { url: address, ...toEvents(events), description, active };
  if (Object.values(fields).every((value) => value === undefined)) {
    throw new UsageError('Nothing would change; use --address, --events, --description, --pause or --resume.');
  }
  return fields;
}

function addRotateCommand(webhooks: CliCommand, { env }: Context): void {
  webhooks
    .command('rotate')
    .explain({
      summary: 'make a new secret for an endpoint and print it once',
      details: ['The new and the old secret both sign for 24 hours.'],
      examples: ['runwire webhooks rotate whe_01m7'],
    })
    .argument('ENDPOINT')
    .printsJson('print the endpoint with its secret as JSON')
    .asksIntegration()
    .action(async (endpointId: string, options: OneOptions) => {
      const client = await connectToIntegration(env, options);
      printSecret(await client.webhooks.rotate({ endpointId }), options.json === true);
    });
}

function addDeleteCommand(webhooks: CliCommand, { env }: Context): void {
  webhooks
    .command('delete')
    .explain({ summary: 'delete an endpoint with its deliveries', examples: ['runwire webhooks delete whe_01m7'] })
    .argument('ENDPOINT')
    .printsJson('print {"deleted"} as JSON')
    .asksIntegration()
    .action(async (endpointId: string, options: OneOptions) => {
      const client = await connectToIntegration(env, options);
      await client.webhooks.delete({ endpointId });
      if (options.json) printJson({ deleted: endpointId });
      else note(`The endpoint ${endpointId} is deleted.`);
    });
}

function describeState({ active, disabledReason }: WebhookEndpoint): string {
  if (active) return 'active';
  return disabledReason === null ? 'paused' : `disabled: ${disabledReason}`;
}

function printSecret(endpoint: WebhookEndpointWithSecret, isJson: boolean): void {
  if (isJson) {
    printJson(endpoint);
    return;
  }
  print(endpoint.secret);
  note(`The endpoint is ${endpoint.endpointId}. The secret is not shown again.`);
}

function printEndpoint(endpoint: WebhookEndpoint, isJson: boolean): void {
  if (isJson) {
    printJson(endpoint);
    return;
  }
  printFields({
    endpoint: endpoint.endpointId,
    address: endpoint.url ?? 'none',
    state: describeState(endpoint),
    'failing since': time(endpoint.failingSince),
    events: endpoint.events.join(', '),
    description: endpoint.description,
    created: time(endpoint.createdAt),
    updated: time(endpoint.updatedAt),
  });
}
