import type { ListWebhookDeliveriesParameters, WebhookDelivery } from '@runwire/client';
import { Option } from 'commander';
import { type CliCommand, type Context, wholeNumber } from '../command.ts';
import { connectToIntegration, type IntegrationOptions } from '../connection.ts';
import { UsageError } from '../exit-codes.ts';
import { type ListOptions, note, print, printFields, printJson, printList, time, visible } from '../output.ts';
import { timeOption } from '../request-options.ts';

type Filters = ListWebhookDeliveriesParameters;

interface OneOptions extends IntegrationOptions {
  readonly json?: true;
}

interface DeliveriesOptions extends ListOptions, IntegrationOptions {
  readonly status?: NonNullable<Filters['status']>;
  readonly type?: string;
  readonly from?: string;
  readonly to?: string;
}

interface ReplayOptions extends OneOptions {
  readonly from?: string;
  readonly to?: string;
  readonly types?: string;
}

const STATES = ['pending', 'delivered', 'failed', 'skipped'] as const;
const ONE = 'print the delivery as JSON';

/** The commands about what was sent to an endpoint. */
export function addDeliveryCommands(webhooks: CliCommand, context: Context): void {
  addTestCommand(webhooks, context);
  addListCommand(webhooks, context);
  addShowCommand(webhooks, context);
  addRedeliverCommand(webhooks, context);
  addReplayCommand(webhooks, context);
}

function addTestCommand(webhooks: CliCommand, { env }: Context): void {
  webhooks
    .command('test')
    .explain({ summary: 'send a webhook.test to an endpoint', examples: ['runwire webhooks test whe_01m7'] })
    .argument('ENDPOINT')
    .printsJson(ONE)
    .asksIntegration()
    .action(async (endpointId: string, options: OneOptions) => {
      const client = await connectToIntegration(env, options);
      printNew(await client.webhooks.test({ endpointId }), options);
    });
}

function addListCommand(webhooks: CliCommand, { env }: Context): void {
  webhooks
    .command('deliveries')
    .explain({
      summary: 'list the deliveries of an endpoint, the newest first',
      examples: [
        'runwire webhooks deliveries whe_01m7',
        'runwire webhooks deliveries whe_01m7 --status failed --from 2026-11-01',
      ],
    })
    .argument('ENDPOINT')
    .addOption(new Option('--status <STATUS>', `only deliveries in this state: ${STATES.join(', ')}`).choices(STATES))
    .option('--type <TYPE>', 'only deliveries of this type, such as run.completed')
    .option('--from <DATE>', 'only deliveries of this day or later, or of this time or later')
    .option('--to <DATE>', 'only deliveries before this day or time')
    .option('--limit <N>', 'the largest number of deliveries; default: 20', wholeNumber, 20)
    .printsJson('print the deliveries as a JSON array')
    .asksIntegration()
    .action(async (endpointId: string, options: DeliveriesOptions) => {
      const { status } = options;
      const type = options.type as Filters['type'];
      const [from, to] = [timeOption('--from', options.from), timeOption('--to', options.to)];
      const client = await connectToIntegration(env, options);
      await printList(client.webhooks.deliveries({ endpointId, status, type, from, to }), options, [
        { title: 'delivery', value: ({ deliveryId }) => deliveryId },
        { title: 'type', value: ({ type: name }) => name },
        { title: 'status', value: ({ status: state }) => state },
        { title: 'attempts', value: ({ attempts }) => attempts },
        { title: 'created', value: ({ createdAt }) => time(createdAt) },
        { title: 'next attempt', value: ({ nextAttemptAt }) => time(nextAttemptAt) },
        { title: 'run', value: ({ runId }) => runId },
        { title: 'answer', value: describeAnswer, canShrink: true },
      ]);
    });
}

function addShowCommand(webhooks: CliCommand, { env }: Context): void {
  webhooks
    .command('delivery')
    .explain({
      summary: 'show a delivery with its body and the last answer',
      details: ['The body is printed to standard output, everything else to standard error.'],
      examples: [
        'runwire webhooks delivery whe_01m7 whd_01m8',
        'runwire webhooks delivery whe_01m7 whd_01m8 | jq .data',
      ],
    })
    .argument('ENDPOINT')
    .argument('DELIVERY')
    .printsJson(ONE)
    .asksIntegration()
    .action(async (endpointId: string, deliveryId: string, { json, ...options }: OneOptions) => {
      const client = await connectToIntegration(env, options);
      const delivery = await client.webhooks.delivery({ endpointId, deliveryId });
      if (json) return printJson(delivery);
      const { eventId, type, status, attempts, nextAttemptAt, createdAt, deliveredAt, answer } = delivery;
      const texts = { 'last error': delivery.lastError, answer };
      printFields(
        {
          ...{ delivery: deliveryId, event: eventId, type, run: delivery.runId, status, attempts },
          ...{ 'last status': delivery.lastStatus, ...texts, 'next attempt': time(nextAttemptAt) },
          ...{ created: time(createdAt), delivered: time(deliveredAt) },
        },
        note,
      );
      print(visible(delivery.body));
    });
}

function addRedeliverCommand(webhooks: CliCommand, { env }: Context): void {
  webhooks
    .command('redeliver')
    .explain({
      summary: 'send the event of a delivery once more',
      details: ['It is a new delivery with the same webhook-id.'],
      examples: ['runwire webhooks redeliver whe_01m7 whd_01m8'],
    })
    .argument('ENDPOINT')
    .argument('DELIVERY')
    .printsJson(ONE)
    .asksIntegration()
    .action(async (endpointId: string, deliveryId: string, options: OneOptions) => {
      const client = await connectToIntegration(env, options);
      printNew(await client.webhooks.redeliver({ endpointId, deliveryId }), options);
    });
}

function addReplayCommand(webhooks: CliCommand, { env }: Context): void {
  webhooks
    .command('replay')
    .explain({
      summary: 'send the stored events of a period once more',
      details: [
        'Every event has its old webhook-id, so receivers that know it ignore it. Without --to the period ends now.',
      ],
      examples: ['runwire webhooks replay whe_01m7 --from 2026-11-01T08:00Z --types run.failed'],
    })
    .argument('ENDPOINT')
    .requiredOption('--from <DATE>', 'the first day, or the exact time')
    .option('--to <DATE>', 'the day or time at which it ends, not included')
    .option('--types <TYPES>', 'only these types, with commas between them')
    .printsJson('print {"deliveries"} as JSON')
    .asksIntegration()
    .action(async (endpointId: string, { types, json, ...options }: ReplayOptions) => {
      const from = timeOption('--from', options.from);
      const to = timeOption('--to', options.to ?? new Date().toISOString());
      if (from === undefined || to === undefined) throw new UsageError('Name the period with --from.');
      const chosen = types === undefined ? {} : { types: types.split(',') as WebhookDelivery['type'][] };
      const client = await connectToIntegration(env, options);
      const replay = await client.webhooks.replay({ endpointId, from, to, ...chosen });
      if (json) return printJson(replay);
      note(`${replay.deliveries === 1 ? '1 event is' : `${replay.deliveries} events are`} sent once more.`);
    });
}

const describeAnswer = ({ lastStatus, lastError }: WebhookDelivery) =>
  [lastStatus, lastError].filter((part) => part !== null).join(' ') || null;

function printNew(delivery: WebhookDelivery, { json }: OneOptions): void {
  if (json) {
    printJson(delivery);
    return;
  }
  print(delivery.deliveryId);
  note(`A ${delivery.type} is ${delivery.status}; \`runwire webhooks delivery\` shows what happens to it.`);
}
