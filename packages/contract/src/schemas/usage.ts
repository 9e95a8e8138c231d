import { count, listOf, named, nullable, oneOfStrings, ref, time } from './kit.ts';
import { Type } from './type.ts';

export const allowanceUnit = () => oneOfStrings(['runs', 'tokens', 'credits']);
export const allowancePeriod = () => oneOfStrings(['day', 'week', 'month', 'lifetime']);

/** A limit stays far inside the integers that JSON numbers carry exactly. */
export const allowanceLimit = () => Type.Integer({ minimum: 0, maximum: 1e15 });

export const Usage = named(
  'Usage',
  Type.Object({
    request_count: count(),
    input_tokens: count(),
    cached_tokens: count(),
    output_tokens: count(),
    reasoning_tokens: count(),
    total_tokens: count(),
  }),
);

export const AllowanceSetting = named(
  'AllowanceSetting',
  Type.Object(
    { unit: allowanceUnit(), limit: allowanceLimit(), period: allowancePeriod() },
    { additionalProperties: false },
  ),
);

export const Allowance = named(
  'Allowance',
  Type.Object({
    unit: allowanceUnit(),
    limit: Type.Number(),
    used: Type.Number(),
    reserved: Type.Number(),
    remaining: Type.Number({ description: 'max(0, limit − used − reserved)' }),
    period: allowancePeriod(),
    periodStart: nullable(time()),
    resetAt: nullable(time()),
    exhausted: Type.Boolean({ description: 'True when nothing remains.' }),
  }),
);

export const UsageRecord = named(
  'UsageRecord',
  Type.Object({
    usageRequestId: nullable(Type.String()),
    consumerId: nullable(Type.String()),
    chatId: Type.String(),
    runId: Type.String(),
    agent: Type.String(),
    status: oneOfStrings(['running', 'completed', 'failed', 'cancelled']),
    usage: ref(Usage),
    byModel: Type.Array(
      Type.Object({ model: Type.String(), input_tokens: count(), cached_tokens: count(), output_tokens: count() }),
    ),
    charged: nullable(Type.Object({ unit: allowanceUnit(), amount: Type.Number() })),
    periodStart: nullable(time()),
    startedAt: nullable(time()),
    completedAt: nullable(time()),
  }),
);

export const UsageRecordList = listOf('UsageRecordList', UsageRecord);

export const usageGrouping = () => oneOfStrings(['day', 'consumer', 'agent', 'model']);

export const UsageSummary = named(
  'UsageSummary',
  Type.Object({
    groupBy: usageGrouping(),
    from: nullable(time()),
    to: nullable(time()),
    items: Type.Array(
      Type.Object({
        key: nullable(
          Type.String({
            description: 'The day (`2030-01-31`), member, agent or model; null: the runs that name no member.',
          }),
        ),
        runs: count(),
        usage: ref(Usage),
        charged: Type.Object({ runs: count(), tokens: count(), credits: count() }),
      }),
    ),
    nextCursor: nullable(Type.String()),
  }),
);
