import {
  count,
  described,
  eitherBy,
  flag,
  named,
  nextCursor,
  nullable,
  oneOfStrings,
  ref,
  strictObject,
  text,
  time,
  toList,
} from './kit.ts';
import { Type } from './type.ts';

const allowanceUnit = (description: string) => oneOfStrings(['runs', 'tokens', 'credits'], { description });
const allowancePeriod = () =>
  oneOfStrings(['day', 'week', 'month', 'lifetime'], {
    description: 'Period of the limit. Periods begin at 00:00 UTC, weeks on Monday.',
  });

/** The maximum is far below the largest integer that a JSON number carries exactly. */
export const allowanceLimit = (description: string) => Type.Integer({ minimum: 0, maximum: 1e15, description });

export const Usage = named(
  'Usage',
  Type.Object(
    {
      request_count: count('Number of model calls.'),
      input_tokens: count('Tokens of the prompts, cached ones included.'),
      cached_tokens: count('Input tokens that the provider read from its cache.'),
      output_tokens: count('Tokens of the answers, reasoning included.'),
      reasoning_tokens: count('Output tokens that the model used for reasoning.'),
      total_tokens: count('`input_tokens` + `output_tokens`.'),
    },
    { description: 'Tokens that models used.' },
  ),
);

export const Cost = named(
  'Cost',
  Type.Object(
    {
      amount: Type.Number({ minimum: 0, description: 'Tokens × price, with at most six decimals.' }),
      currency: text("The prices' currency, as in ISO 4217."),
    },
    { description: 'What models cost.' },
  ),
);

export const cost = (description: string) =>
  nullable(described(Cost, `${description} Null if the prices have no currency, or none of a model.`));

export const AllowanceSetting = named(
  'AllowanceSetting',
  Type.Object(
    {
      unit: allowanceUnit('Unit of the limit.'),
      limit: allowanceLimit('How much each member may use in a period.'),
      period: allowancePeriod(),
    },
    { additionalProperties: false, description: 'The allowance of each member.' },
  ),
);

export const Allowance = named(
  'Allowance',
  Type.Object(
    {
      unit: allowanceUnit('Unit of all amounts.'),
      limit: Type.Number({ description: 'How much the member may use in the period.' }),
      used: Type.Number({ description: 'Amount of the ended runs of the period, with its adjustments; at least 0.' }),
      reserved: Type.Number({ description: 'Amount that active runs reserve.' }),
      remaining: Type.Number({ description: 'max(0, limit − used − reserved)' }),
      period: allowancePeriod(),
      periodStart: nullable(time('When the current period began. Null for a lifetime allowance.')),
      resetAt: nullable(time('When the next period begins. Null for a lifetime allowance.')),
      exhausted: flag('True if nothing remains.'),
    },
    { description: 'How much a member has used of its allowance.' },
  ),
);

export const modelUsage = Type.Object(
  {
    model: text('Model, as `provider/model`.'),
    input_tokens: count('Tokens of the prompts, cached ones included.'),
    cached_tokens: count('Input tokens that the provider read from its cache.'),
    output_tokens: count('Tokens of the answers, reasoning included.'),
  },
  { description: 'Tokens of one model.' },
);

/** What a run counts for. */
export const charged = () =>
  nullable(
    Type.Object(
      {
        unit: allowanceUnit('Unit of the amount.'),
        amount: Type.Number({ description: 'Amount that counts against the allowance.' }),
      },
      { description: 'What the run was charged. Null while it runs, and if allowances were off.' },
    ),
  );

/** Nullable, because a model may produce no output. */
export const firstTokenMs = (description: string) =>
  nullable(
    Type.Integer({
      minimum: 0,
      description: `${description} In milliseconds; null if there is none, or it is not known.`,
    }),
  );

export const RunUsageRecord = named(
  'RunUsageRecord',
  Type.Object(
    {
      kind: oneOfStrings(['run'], { description: 'Discriminator.' }),
      usageRequestId: nullable(text('`usageRequestId` of the request. Null if it had none.')),
      consumerId: nullable(text('The member of the run. Null if the request named none.')),
      chatId: text('Identifier of the chat.'),
      runId: text('Identifier of the run.'),
      agent: text('The agent that the run was started at.'),
      status: oneOfStrings(['running', 'completed', 'failed', 'cancelled'], { description: 'State of the run.' }),
      usage: ref(Usage),
      byModel: Type.Array(modelUsage, { description: 'The same tokens, by model.' }),
      charged: charged(),
      rerun: flag('True if the run is a rerun. It is charged to no member.'),
      periodStart: nullable(
        time('Start of the period in which the run counts. Null for a lifetime allowance, and if allowances were off.'),
      ),
      firstTokenMs: firstTokenMs('From admission to the first output by a model.'),
      cost: cost('What the run cost, from its end on.'),
      startedAt: nullable(time('When the run was started. Null if it was not started yet.')),
      completedAt: nullable(time('When the run ended. Null if it has not ended.')),
    },
    { description: 'What one run used and was charged.' },
  ),
);

/** The maximum is that of a limit. */
const amount = (description: string) => Type.Number({ minimum: -1e15, maximum: 1e15, description });

const adjustmentFields = {
  unit: allowanceUnit("Unit of the amount; it must be the unit of the integration's allowance."),
  amount: amount(
    'Positive: the member gets this amount back. Negative: it is taken. Not 0; an integer in runs and tokens, at most six ' +
      'decimals in credits.',
  ),
};
const reason = () => text('Why the usage was corrected, for people.', { minLength: 1, maxLength: 500 });
const idempotencyKey = () =>
  text('Your own id for the adjustment, unique for the member.', { minLength: 1, maxLength: 256 });

export const CreateAdjustmentRequest = named(
  'CreateAdjustmentRequest',
  strictObject(
    { ...adjustmentFields, reason: reason(), idempotencyKey: idempotencyKey() },
    { description: "The correction of a member's usage." },
  ),
);

export const Adjustment = named(
  'Adjustment',
  Type.Object(
    {
      kind: oneOfStrings(['adjustment'], { description: 'Discriminator.' }),
      adjustmentId: text('Identifier of the adjustment.'),
      consumerId: text('The member whose usage was corrected.'),
      ...adjustmentFields,
      applied: Type.Number({
        description: 'The part of `amount` that was applied: what the member gets back is at most what it has used.',
      }),
      reason: nullable(reason()),
      idempotencyKey: idempotencyKey(),
      periodStart: nullable(time('Start of the period in which it counts. Null for a lifetime allowance.')),
      createdAt: time('When the adjustment was made. It counts on this day.'),
    },
    { description: "A correction of a member's usage." },
  ),
);

export const AdjustmentList = toList('AdjustmentList', Adjustment);

export const UsageRecord = named(
  'UsageRecord',
  eitherBy('kind', [RunUsageRecord, Adjustment], 'The usage of a run or a correction, discriminated by `kind`.'),
);

export const UsageRecordList = toList('UsageRecordList', UsageRecord);

export const usageGrouping = () =>
  oneOfStrings(['hour', 'day', 'consumer', 'agent', 'model'], { description: 'What usage is grouped by.' });

export const usageSplit = () =>
  oneOfStrings(['consumer', 'agent', 'model', 'error', 'agencyVersion'], {
    description: 'What each day or hour is split by. Only with `groupBy=day` and `groupBy=hour`.',
  });

export const percentiles = (description: string) =>
  Type.Object(
    {
      p50: count('The median: half the runs took at most this time, in milliseconds.'),
      p95: count('The 95th percentile in milliseconds.'),
    },
    { description },
  );

/** What summaries tell about ended runs besides tokens. */
export const measuredRuns = {
  failed: count('Number of runs that failed.'),
  cancelled: count('Number of runs that were cancelled.'),
  cost: cost('What the ended runs cost. Also null if one of them has no cost, or another currency.'),
  durationMs: nullable(percentiles('From admission to the end, within 10 %. Null if no run has ended.')),
  firstTokenMs: nullable(percentiles('From admission to the first output, within 10 %. Null if no ended run has one.')),
};

const usageGroup = Type.Object(
  {
    key: nullable(
      text(
        'The hour (when it begins), day (`2030-01-31`), member, agent or model. Null: the runs that name no member.',
      ),
    ),
    split: Type.Optional(
      nullable(
        text(
          'Only with `splitBy`: one of the ten values with the most tokens in the whole period: members, agents, models, error ' +
            'codes or hashes of agencies. Null: all others, and the runs that have none.',
        ),
      ),
    ),
    runs: count('Number of runs.'),
    ...measuredRuns,
    usage: ref(Usage),
    charged: Type.Object(
      {
        runs: count('Charge in runs.'),
        tokens: count('Charge in tokens.'),
        credits: count('Charge in credits.'),
      },
      { description: 'What the ended runs count for in each unit.' },
    ),
  },
  { description: 'The usage of one group.' },
);

export const UsageSummary = named(
  'UsageSummary',
  Type.Object(
    {
      groupBy: usageGrouping(),
      from: nullable(time('Runs that were admitted at this time or later. Null: from the first run on.')),
      to: nullable(time('Runs that were admitted before this time. Null: up to now.')),
      items: Type.Array(usageGroup, {
        description: 'The groups of this page; the group with the newest run is first.',
      }),
      nextCursor,
    },
    { description: 'Usage, added up by hour, day, member, agent or model.' },
  ),
);

const dayLatency = Type.Object(
  {
    day: text('The day in UTC, such as `2030-01-31`.'),
    runs: count('The completed runs from which the times were taken.'),
    sampled: flag('True if the day has more than 2 400 runs: then at most the first 100 runs in each hour were read.'),
    durationMs: percentiles('From admission to the end.'),
    firstTokenMs: nullable(percentiles('From admission to the first output. Null if no run has one.')),
  },
  { description: 'How long completed runs took in one day.' },
);

export const LatencySummary = named(
  'LatencySummary',
  Type.Object(
    {
      from: time('Runs that were admitted at this time or later.'),
      to: time('Runs that were admitted before this time.'),
      items: Type.Array(dayLatency, { description: 'The days with completed runs, newest first.' }),
    },
    { description: 'How long runs took, by day.' },
  ),
);
