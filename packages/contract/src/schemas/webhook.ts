import { failure } from './error.ts';
import { count, eitherBy, flag, named, nullable, oneOfStrings, ref, strictObject, text, time, toList } from './kit.ts';
import { originalRun, runStatus } from './run.ts';
import { Type } from './type.ts';
import { Allowance, charged, cost, firstTokenMs, modelUsage, Usage } from './usage.ts';

export const webhookEventTypes = [
  'run.completed',
  'run.failed',
  'run.cancelled',
  'run.asked',
  'member.allowance_exhausted',
  'upload.completed',
  'agency.broken',
  'schedule.paused',
  'webhook.test',
] as const;
export type WebhookEventType = (typeof webhookEventTypes)[number];

const eventType = (description: string) => oneOfStrings(webhookEventTypes, { description });
const deliveryStatus = (description: string) =>
  oneOfStrings(['pending', 'delivered', 'failed', 'skipped'], { description });

const MAX_URL = 2048;
const url = () =>
  nullable(
    text(
      'Address that events are posted to: https and public, or allowed by `RUNWIRE_WEBHOOK_ALLOW`. Null: nothing is posted, ' +
        'and deliveries are `skipped`.',
      { maxLength: MAX_URL },
    ),
  );
const events = () =>
  Type.Array(oneOfStrings(['*', ...webhookEventTypes], { description: 'An event type, or `*` for all.' }), {
    minItems: 1,
    uniqueItems: true,
    description: 'The event types that are sent. The default is `["*"]`, all.',
  });
const note = () => nullable(text('Note for people.', { maxLength: 500 }));

const endpointFields = {
  endpointId: text("The endpoint's identifier."),
  url: url(),
  events: events(),
  description: note(),
  active: flag('True if events are sent. False if the endpoint was paused or disabled.'),
  disabledReason: nullable(
    oneOfStrings(['gone', 'failing'], {
      description:
        'Why the server disabled the endpoint: `gone` if it answered 410, `failing` after 72 hours with failures alone. Null if ' +
        'the server did not disable it.',
    }),
  ),
  failingSince: nullable(time('Since when every attempt has failed. Null if the last one succeeded.')),
  createdAt: time('When the endpoint was made.'),
  updatedAt: time('When the endpoint was last changed.'),
};

export const WebhookEndpoint = named(
  'WebhookEndpoint',
  Type.Object(endpointFields, { description: "An address that an integration's events are posted to." }),
);

export const WebhookEndpointList = toList('WebhookEndpointList', WebhookEndpoint);

export const WebhookEndpointWithSecret = named(
  'WebhookEndpointWithSecret',
  Type.Object(
    {
      ...endpointFields,
      secret: text('The secret that signs what is posted, `whsec_…`. It is shown only in this answer.'),
    },
    { description: 'An endpoint with its new secret.' },
  ),
);

export const CreateWebhookRequest = named(
  'CreateWebhookRequest',
  strictObject(
    { url: url(), events: Type.Optional(events()), description: Type.Optional(note()) },
    { description: 'The endpoint to make.' },
  ),
);

export const UpdateWebhookRequest = named(
  'UpdateWebhookRequest',
  strictObject(
    {
      url: Type.Optional(url()),
      events: Type.Optional(events()),
      description: Type.Optional(note()),
      active: Type.Optional(flag('False pauses the endpoint. True ends a pause or a disablement.')),
    },
    { description: 'The fields to change.' },
  ),
);

const deliveryFields = {
  deliveryId: text("The delivery's identifier."),
  eventId: text("The event's identifier: the header `webhook-id` in every attempt."),
  type: eventType("The event's type."),
  runId: nullable(text('The run that the event is about. Null if it is not about a run.')),
  status: deliveryStatus(
    '`pending` until an attempt succeeds. `failed` after the last attempt, `skipped` if the endpoint was paused or disabled.',
  ),
  attempts: count('Attempts so far.'),
  nextAttemptAt: nullable(time('When the next attempt is due. Null if there is none.')),
  lastStatus: nullable(Type.Integer({ description: 'HTTP status that was answered last. Null if there was none.' })),
  lastError: nullable(text('Why the last attempt failed. Null if it did not fail.')),
  createdAt: time('When the delivery was made.'),
  deliveredAt: nullable(time('When an attempt succeeded. Null if none did.')),
};

export const WebhookDelivery = named(
  'WebhookDelivery',
  Type.Object(deliveryFields, { description: 'An event on its way to an endpoint.' }),
);

export const WebhookDeliveryList = toList('WebhookDeliveryList', WebhookDelivery);

export const WebhookDeliveryWithBody = named(
  'WebhookDeliveryWithBody',
  Type.Object(
    {
      ...deliveryFields,
      body: text('What is posted, the same in every attempt.'),
      answer: nullable(text('The first 256 bytes that were answered last. Null if there was none.')),
    },
    { description: 'A delivery with what is posted and what was answered.' },
  ),
);

export const ReplayWebhookRequest = named(
  'ReplayWebhookRequest',
  strictObject(
    {
      from: time('Events at this time or later.'),
      to: time('Events before this time.'),
      types: Type.Optional(
        Type.Array(eventType('An event type.'), {
          minItems: 1,
          uniqueItems: true,
          description: 'Only events with these types. The default is all types that the endpoint gets.',
        }),
      ),
    },
    { description: 'The stored events to send once more.' },
  ),
);

export const WebhookReplay = named(
  'WebhookReplay',
  Type.Object({ deliveries: count('How many deliveries were made.') }, { description: 'What a replay made.' }),
);

const integration = { apiIntegrationId: text("The integration's identifier.") };
const timestamp = time('When the event happened.');

/** Names the type of an event's body. */
const event = <const Id extends string, T extends string, D extends object>(
  name: Id,
  types: readonly [T, ...T[]],
  data: D,
  description: string,
) =>
  named(
    name,
    Type.Object(
      {
        type: oneOfStrings<[T, ...T[]]>([...types], { description: "The event's type." }),
        timestamp,
        data: Type.Object({ ...integration, ...data }, { description: 'What the event is about.' }),
      },
      { description },
    ),
  );

const question = Type.Object(
  {
    questionId: text("The question's identifier, for `answers`."),
    kind: oneOfStrings(['approval', 'tool'], { description: 'Who must act.' }),
    callId: text("The call's id."),
    agent: text('The agent that made the call.'),
    callerAgent: nullable(text('The agent that asked it. Null if the user asked.')),
    tool: text("The tool's name."),
  },
  { description: "An open question, without its call's arguments." },
);

export const WebhookRunEvent = event(
  'WebhookRunEvent',
  ['run.completed', 'run.failed', 'run.cancelled', 'run.asked'],
  {
    runId: text("The run's identifier."),
    chatId: text("The chat's identifier."),
    chatDeleted: flag('True if the chat was deleted.'),
    consumerId: nullable(text('The member that the run was started for. Null if the request named none.')),
    usageRequestId: nullable(text("The request's `usageRequestId`. Null if it had none.")),
    status: runStatus('How the run ended.'),
    cancelRequested: nullable(
      oneOfStrings(['immediate', 'after_step'], {
        description: 'How the run was asked to stop. Null if it was not asked.',
      }),
    ),
    agent: text('The agent that the run was started at.'),
    agencyVersion: nullable(text("The agency's hash when the run was started. Null if it is not known.")),
    attempt: Type.Integer({ minimum: 1, description: 'The attempt that ended the run.' }),
    lastEventId: count("The last event's id in the stream."),
    createdAt: time('When the run was admitted.'),
    startedAt: nullable(time('When the run was started. Null if it was not started.')),
    completedAt: time('When the run ended.'),
    firstTokenMs: firstTokenMs("From the run's admission to a model's first output."),
    cost: cost('What the run cost.'),
    error: failure('Why the run failed. Null if it did not fail.'),
    continues: nullable(text('The run whose questions this one settled. Null if it settled none.')),
    rerunOf: originalRun(),
    pending: Type.Array(question, { description: "The run's open questions." }),
    usage: ref(Usage),
    charged: charged(),
    byModel: Type.Array(modelUsage, { description: 'The same tokens, by model.' }),
  },
  'A run ended. `run.asked` is sent besides `run.completed` if the run ended with open questions.',
);

export const WebhookAllowanceEvent = event(
  'WebhookAllowanceEvent',
  ['member.allowance_exhausted'],
  { consumerId: text('The member.'), allowance: ref(Allowance) },
  'A member has used up its allowance. Sent once for each member and period.',
);

export const WebhookUploadEvent = event(
  'WebhookUploadEvent',
  ['upload.completed'],
  {
    path: text("The file's path."),
    size: count('Size in bytes.'),
    contentType: text("The file's media type."),
  },
  'An upload was published as a file.',
);

export const WebhookAgencyEvent = event(
  'WebhookAgencyEvent',
  ['agency.broken'],
  {
    agency: text("The agency's name."),
    error: Type.Object(
      {
        message: text('The first fault, in one line.'),
        faults: Type.Array(
          Type.Object(
            {
              file: text("The file, by its path from the agency's folder."),
              line: nullable(Type.Integer({ description: 'The line, from 1. Null if the fault is not in a text.' })),
              column: nullable(
                Type.Integer({ description: 'The column, from 1. Null if the fault is not in a text.' }),
              ),
              message: text('What is wrong, and what to write.'),
            },
            { description: 'A fault.' },
          ),
          { description: 'At most ten faults.' },
        ),
      },
      { description: 'What is wrong with the agency.' },
    ),
  },
  "An edit or a start broke the integration's agency. Sent once for each agency and fault.",
);

export const WebhookScheduleEvent = event(
  'WebhookScheduleEvent',
  ['schedule.paused'],
  { scheduleId: text("The schedule's identifier."), pausedReason: text('Why it was paused.') },
  'The server paused a schedule.',
);

export const WebhookTestEvent = event(
  'WebhookTestEvent',
  ['webhook.test'],
  { endpointId: text("The endpoint's identifier.") },
  'Sent on request, to try an endpoint.',
);

export const WebhookEvent = named(
  'WebhookEvent',
  eitherBy(
    'type',
    [
      WebhookRunEvent,
      WebhookAllowanceEvent,
      WebhookUploadEvent,
      WebhookAgencyEvent,
      WebhookScheduleEvent,
      WebhookTestEvent,
    ],
    'What is posted to an endpoint, discriminated by `type`.',
  ),
);
