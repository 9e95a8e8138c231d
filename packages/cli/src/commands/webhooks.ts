import type { ListWebhookDeliveriesParameters, WebhookDelivery, WebhookEndpoint } from '@runwire/client';
import { Option } from 'commander';
import { type CliCommand, type Context, wholeNumber } from '../command.ts';
import { connectToIntegration, type IntegrationOptions } from '../connection.ts';
import { UsageError } from '../exit-codes.ts';
import { type ListOptions, note, printFields, printJson, printList, time } from '../output.ts';
import { timeOption } from '../request-options.ts';

interface OneOptions extends IntegrationOptions {
  readonly json?: true;
}

type EventName = WebhookEndpoint['events'][number];
type Status = NonNullable<ListWebhookDeliveriesParameters['status']>;

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
const DELIVERY = 'print the delivery as JSON';
const EVENTS = 'event types with commas between them; default: all';

export function addWebhookCommands(program: CliCommand, context: Context): void {
  const webhooks = program
    .command('webhooks')
    .explain({ summary: 'addresses that an integration’s events are posted to' });
  addReadCommands(webhooks, context);
  addCreateCommand(webhooks, context);
  addUpdateCommand(webhooks, context);
  addSecretCommands(webhooks, context);
  addDeliveryCommands(webhooks, context);
  addReplayCommand(webhooks, context);
}

function addReadCommands(webhooks: CliCommand, { env }: Context): void {
  webhooks
    .command('list')
    .explain({ summary: 'list webhook endpoints', examples: ['runwire webhooks list'] })
    .option('--limit <N>', 'the largest number of endpoints; default: 50', wholeNumber, 50)
    .printsJson('print the endpoints as a JSON array')
    .asksIntegration()
    .action(async (options: ListOptions & IntegrationOptions) => {
      const client = await connectToIntegration(env, options);
      await printList(client.webhooks.list(), options, [
        { title: 'endpoint', value: ({ endpointId }) => endpointId },
        { title: 'state', value: stateText },
        { title: 'events', value: ({ events }) => events.join(',') },
        { title: 'url', value: ({ url }) => url, canShrink: true },
      ]);
    });
  webhooks
    .command('show')
    .explain({ summary: 'show a webhook endpoint', examples: ['runwire webhooks show whe_1'] })
    .argument('ENDPOINT')
    .printsJson(ONE)
    .asksIntegration()
    .action(async (endpointId: string, options: OneOptions) => {
      const client = await connectToIntegration(env, options);
      printEndpoint(await client.webhooks.get({ endpointId }), options);
    });
  webhooks
    .command('delete')
    .explain({ summary: 'delete a webhook endpoint', examples: ['runwire webhooks delete whe_1'] })
    .argument('ENDPOINT')
    .printsJson('print {"deleted"} as JSON')
    .asksIntegration()
    .action(async (endpointId: string, { json, ...options }: OneOptions) => {
      const client = await connectToIntegration(env, options);
      await client.webhooks.delete({ endpointId });
      if (json) printJson({ deleted: endpointId });
      else note(`The endpoint ${endpointId} is deleted.`);
    });
}

function addCreateCommand(webhooks: CliCommand, { env }: Context): void {
  webhooks
    .command('create')
    .explain({
      summary: 'add a webhook endpoint and print its secret once',
      examples: ['runwire webhooks create https://example.com/hook --events run.completed,run.failed'],
    })
    .argument('URL')
    .option('--events <TYPES>', EVENTS)
    .option('--description <TEXT>', 'a note for people')
    .printsJson('print the endpoint with its secret as JSON')
    .asksIntegration()
    .action(async (url: string, { events, description, ...options }: EndpointOptions) => {
      const client = await connectToIntegration(env, options);
      const endpoint = await client.webhooks.create({ url, ...eventFields(events), ...noteFields(description) });
      printSecret(endpoint, options);
    });
}

function addUpdateCommand(webhooks: CliCommand, { env }: Context): void {
  webhooks
    .command('update')
    .explain({
      summary: 'change, pause or resume a webhook endpoint',
      details: ['--resume also ends a disablement.'],
      examples: ['runwire webhooks update whe_1 --pause', 'runwire webhooks update whe_1 --resume'],
    })
    .argument('ENDPOINT')
    .option('--address <URL>', 'another address')
    .option('--events <TYPES>', EVENTS)
    .option('--description <TEXT>', 'a note for people')
    .option('--pause', 'send nothing')
    .option('--resume', 'send again')
    .printsJson(ONE)
    .asksIntegration()
    .action(
      async (endpointId: string, { address: url, events, description, pause, resume, ...options }: UpdateOptions) => {
        if (pause && resume) throw new UsageError('Use either --pause or --resume.');
        const client = await connectToIntegration(env, options);
        const fields = {
          ...(url === undefined ? {} : { url }),
          ...eventFields(events),
          ...noteFields(description),
          ...(pause || resume ? { active: resume === true } : {}),
        };
        printEndpoint(await client.webhooks.update({ endpointId, ...fields }), options);
      },
    );
}

function addSecretCommands(webhooks: CliCommand, { env }: Context): void {
  webhooks
    .command('rotate')
    .explain({
      summary: 'make a new secret for a webhook endpoint and print it once',
      details: ['The secret before it signs too for 24 hours.'],
      examples: ['runwire webhooks rotate whe_1'],
    })
    .argument('ENDPOINT')
    .printsJson('print the endpoint with its secret as JSON')
    .asksIntegration()
    .action(async (endpointId: string, options: OneOptions) => {
      const client = await connectToIntegration(env, options);
      printSecret(await client.webhooks.rotate({ endpointId }), options);
    });
  webhooks
    .command('test')
    .explain({ summary: 'send a `webhook.test`', examples: ['runwire webhooks test whe_1'] })
    .argument('ENDPOINT')
    .printsJson(DELIVERY)
    .asksIntegration()
    .action(async (endpointId: string, options: OneOptions) => {
      const client = await connectToIntegration(env, options);
      printDelivery(await client.webhooks.test({ endpointId }), options);
    });
}

interface DeliveryOptions extends ListOptions, IntegrationOptions {
  readonly status?: Status;
  readonly type?: NonNullable<ListWebhookDeliveriesParameters['type']>;
  readonly from?: string;
  readonly to?: string;
}

function addDeliveryCommands(webhooks: CliCommand, { env }: Context): void {
  webhooks
    .command('deliveries')
    .explain({
      summary: 'list deliveries, the newest first',
      examples: ['runwire webhooks deliveries whe_1 --status failed'],
    })
    .argument('ENDPOINT')
    .addOption(
      new Option('--status <STATUS>', 'only these: pending, delivered, failed, skipped').choices([
        'pending',
        'delivered',
        'failed',
        'skipped',
      ]),
    )
    .option('--type <TYPE>', 'only events with this type')
    .option('--from <DATE>', 'only deliveries from this day or time on')
    .option('--to <DATE>', 'only deliveries before this day or time')
    .option('--limit <N>', 'the largest number of deliveries; default: 50', wholeNumber, 50)
    .printsJson('print the deliveries as a JSON array')
    .asksIntegration()
    .action(async (endpointId: string, { status, type, ...options }: DeliveryOptions) => {
      const period = { from: timeOption('--from', options.from), to: timeOption('--to', options.to) };
      const client = await connectToIntegration(env, options);
      await printList(client.webhooks.deliveries({ endpointId, status, type, ...period }), options, [
        { title: 'delivery', value: ({ deliveryId }) => deliveryId },
        { title: 'created', value: ({ createdAt }) => time(createdAt) },
        { title: 'status', value: ({ status }) => status },
        { title: 'attempts', value: ({ attempts }) => attempts },
        { title: 'answer', value: ({ lastStatus }) => lastStatus },
        { title: 'type', value: ({ type }) => type },
        { title: 'error', value: ({ lastError }) => lastError, canShrink: true },
      ]);
    });
  webhooks
    .command('delivery')
    .explain({
      summary: 'show a delivery with what was posted and answered',
      examples: ['runwire webhooks delivery whe_1 whd_1'],
    })
    .argument('ENDPOINT')
    .argument('DELIVERY')
    .printsJson(DELIVERY)
    .asksIntegration()
    .action(async (endpointId: string, deliveryId: string, options: OneOptions) => {
      const client = await connectToIntegration(env, options);
      const delivery = await client.webhooks.delivery({ endpointId, deliveryId });
      if (options.json) return printJson(delivery);
      printFields({ ...deliveryFields(delivery), 'answer text': delivery.answer, body: delivery.body });
    });
  webhooks
    .command('redeliver')
    .explain({
      summary: 'send a delivery’s event once more',
      examples: ['runwire webhooks redeliver whe_1 whd_1'],
    })
    .argument('ENDPOINT')
    .argument('DELIVERY')
    .printsJson(DELIVERY)
    .asksIntegration()
    .action(async (endpointId: string, deliveryId: string, options: OneOptions) => {
      const client = await connectToIntegration(env, options);
      printDelivery(await client.webhooks.redeliver({ endpointId, deliveryId }), options);
    });
}

function addReplayCommand(webhooks: CliCommand, { env }: Context): void {
  webhooks
    .command('replay')
    .explain({
      summary: 'send stored events once more',
      examples: ['runwire webhooks replay whe_1 --from 2026-11-01 --to 2026-11-02'],
    })
    .argument('ENDPOINT')
    .requiredOption('--from <DATE>', 'events from this day or time on')
    .requiredOption('--to <DATE>', 'events before this day or time')
    .option('--types <TYPES>', 'only these types, with commas between them')
    .printsJson('print {"deliveries"} as JSON')
    .asksIntegration()
    .action(
      async (
        endpointId: string,
        { types, ...options }: OneOptions & { readonly from: string; readonly to: string; readonly types?: string },
      ) => {
        const from = timeOption('--from', options.from) ?? '';
        const to = timeOption('--to', options.to) ?? '';
        const client = await connectToIntegration(env, options);
        const chosen = types === undefined ? {} : { types: types.split(',') as Exclude<EventName, '*'>[] };
        const replay = await client.webhooks.replay({ endpointId, from, to, ...chosen });
        if (options.json) return printJson(replay);
        note(`New deliveries: ${replay.deliveries}.`);
      },
    );
}

const eventFields = (text: string | undefined) =>
  text === undefined ? {} : { events: text.split(',') as EventName[] };
const noteFields = (description: string | undefined) => (description === undefined ? {} : { description });

const stateText = ({ active, disabledReason, failingSince }: WebhookEndpoint) =>
  active ? (failingSince === null ? 'active' : 'active, failing') : (disabledReason ?? 'paused');

function printEndpoint(endpoint: WebhookEndpoint, { json }: { readonly json?: true }): void {
  if (json) printJson(endpoint);
  else printFields(endpointFields(endpoint));
}

function printSecret(
  { secret, ...endpoint }: WebhookEndpoint & { readonly secret: string },
  { json }: { readonly json?: true },
): void {
  if (json) printJson({ ...endpoint, secret });
  else printFields({ ...endpointFields(endpoint), secret });
}

const endpointFields = (endpoint: WebhookEndpoint) => ({
  endpoint: endpoint.endpointId,
  url: endpoint.url,
  events: endpoint.events.join(', '),
  description: endpoint.description,
  state: stateText(endpoint),
  'failing since': time(endpoint.failingSince),
  created: time(endpoint.createdAt),
});

function printDelivery(delivery: WebhookDelivery, { json }: { readonly json?: true }): void {
  if (json) printJson(delivery);
  else printFields(deliveryFields(delivery));
}

const deliveryFields = (delivery: WebhookDelivery) => ({
  delivery: delivery.deliveryId,
  event: delivery.eventId,
  type: delivery.type,
  run: delivery.runId,
  status: delivery.status,
  attempts: delivery.attempts,
  'next attempt': time(delivery.nextAttemptAt),
  answer: delivery.lastStatus,
  error: delivery.lastError,
  delivered: time(delivery.deliveredAt),
});
