import { flag, oneOfStrings, ref, text, time } from '../kit.ts';
import {
  admissionPeriod,
  integrationParams,
  integrationPath,
  integrationRefusals,
  operation,
  pageQuery,
} from '../operation.ts';
import { Type } from '../type.ts';
import { LatencySummary, UsageRecordList, UsageSummary, usageGrouping, usageSplit } from '../usage.ts';
import { integrationExample, json, page, usage, usageRecord } from './examples.ts';

export const listUsage = operation({
  operationId: 'listUsage',
  method: 'GET',
  path: `${integrationPath}/usage`,
  summary: 'List usage records, newest first',
  description:
    'The list has a record of kind `run` for each run and one of kind `adjustment` for each adjustment. With `format=csv` ' +
    'one answer contains all matching records; `limit` and `cursor` are only for JSON.',
  tags: ['Usage'],
  auth: true,
  params: Type.Object(integrationParams),
  query: Type.Object({
    usageRequestId: Type.Optional(text('Only the run with this `usageRequestId`; no adjustments.')),
    consumerId: Type.Optional(text('Only runs and adjustments of this member.')),
    from: Type.Optional(time('Only runs that were admitted, and adjustments that were made, at this time or later.')),
    to: Type.Optional(time('Only runs that were admitted, and adjustments that were made, before this time.')),
    rerun: Type.Optional(flag('True: only reruns, and no adjustments. False: no reruns. By default both.')),
    format: Type.Optional(oneOfStrings(['json', 'csv'], { description: 'Format of the answer; default `json`.' })),
    ...pageQuery,
  }),
  example: {
    params: integrationExample,
    query: { consumerId: 'user-42', from: '2030-01-01T00:00:00Z', limit: 50 },
    status: 200,
    answer: page(usageRecord),
  },
  responses: {
    200: {
      description: 'A page of usage records, or all of them as CSV.',
      schema: ref(UsageRecordList),
      otherContent: { 'text/csv': text('One row for each record, after a row with the names of the columns.') },
      headers: { 'Content-Disposition': text('For CSV: `attachment`, with a file name.') },
    },
    ...integrationRefusals(),
  },
});

export const summariseUsage = operation({
  operationId: 'summariseUsage',
  method: 'GET',
  path: `${integrationPath}/usage/summary`,
  summary: 'Add up usage by hour, day, member, agent or model',
  description:
    'The group with the newest run is first. Adjustments are left out. With `groupBy=model`, a run that called several models counts in the group ' +
    'of each, and a run that called none counts in no group. `charged` has the charge in each unit, regardless of the ' +
    'unit of the integration. With `splitBy`, each day or hour has an item for each of the ten members, agents, models, error ' +
    'codes or hashes of agencies that used the most tokens (`total_tokens`; if equal, runs) in the whole period, and one item with ' +
    '`split` null for all others; items without runs are left out. The newest is first, and within it the largest. The filters are ' +
    'combined: a run counts if it matches all.',
  tags: ['Usage'],
  auth: true,
  params: Type.Object(integrationParams),
  query: Type.Object({
    groupBy: usageGrouping(),
    splitBy: Type.Optional(usageSplit()),
    consumerId: Type.Optional(text('Only runs of this member.')),
    agent: Type.Optional(text('Only runs that were started at this agent.')),
    model: Type.Optional(
      text(
        'Only what this model (`provider/model`) used. A run that called other models too counts with the part of this one.',
      ),
    ),
    rerun: Type.Optional(flag('True: only reruns. By default they are left out.')),
    ...admissionPeriod,
    ...pageQuery,
  }),
  example: {
    params: integrationExample,
    query: { groupBy: 'day', splitBy: 'consumer', agent: 'Concierge', from: '2030-01-01T00:00:00Z' },
    status: 200,
    answer: json({
      groupBy: 'day',
      from: '2030-01-01T00:00:00.000Z',
      to: null,
      items: [
        {
          key: '2030-01-01',
          split: 'user-42',
          runs: 1,
          failed: 0,
          cancelled: 0,
          usage,
          charged: { runs: 1, tokens: 17, credits: 0 },
          cost: { amount: 0.000475, currency: 'EUR' },
          durationMs: { p50: 2100, p95: 2100 },
          firstTokenMs: { p50: 380, p95: 380 },
        },
      ],
      nextCursor: null,
    }),
  },
  responses: {
    200: { description: 'A page of groups.', schema: ref(UsageSummary) },
    ...integrationRefusals(),
  },
});

export const summariseLatency = operation({
  operationId: 'summariseLatency',
  method: 'GET',
  path: `${integrationPath}/latency`,
  summary: 'Show how long runs took, by day',
  description:
    'Median and 95th percentile by day, from completed runs, the newest day first; days without any are left out. By default ' +
    '`to` is now, and `from` is 00:00 UTC 29 days before. `from` and `to` are at most 366 days apart.',
  tags: ['Usage'],
  auth: true,
  params: Type.Object(integrationParams),
  query: Type.Object({
    agent: Type.Optional(text('Only runs that were started at this agent.')),
    model: Type.Optional(text('Only runs that used this model (`provider/model`).')),
    ...admissionPeriod,
  }),
  example: {
    params: integrationExample,
    query: { agent: 'Concierge', from: '2030-01-01T00:00:00Z', to: '2030-01-02T00:00:00Z' },
    status: 200,
    answer: json({
      from: '2030-01-01T00:00:00.000Z',
      to: '2030-01-02T00:00:00.000Z',
      items: [
        {
          day: '2030-01-01',
          runs: 120,
          sampled: false,
          durationMs: { p50: 2100, p95: 6400 },
          firstTokenMs: { p50: 380, p95: 900 },
        },
      ],
    }),
  },
  responses: {
    200: { description: 'The days with completed runs.', schema: ref(LatencySummary) },
    ...integrationRefusals(),
  },
});
