import { ref, text } from '../kit.ts';
import {
  bodyRefusals,
  integrationParams,
  integrationPath,
  integrationRefusals,
  operation,
  pageQuery,
  refusals,
} from '../operation.ts';
import {
  CreateScheduleRequest,
  RunScheduleRequest,
  Schedule,
  ScheduledRun,
  ScheduleList,
  ScheduleTickList,
  UpdateScheduleRequest,
} from '../schedule.ts';
import { Type } from '../type.ts';
import { integrationExample, json, page, schedule, scheduleTick } from './examples.ts';

const scheduleParams = Type.Object({ ...integrationParams, scheduleId: text("The schedule's id.") });
const scheduleExample = { ...integrationExample, scheduleId: 'sch_1' };

export const createSchedule = operation({
  operationId: 'createSchedule',
  method: 'POST',
  path: `${integrationPath}/schedules`,
  summary: 'Create a schedule: runs that start by themselves',
  description: 'Each tick starts one run, on one node or many. An integration has at most 1000 schedules.',
  tags: ['Schedules'],
  auth: true,
  params: Type.Object(integrationParams),
  body: ref(CreateScheduleRequest),
  example: {
    params: integrationExample,
    body: {
      name: 'Weekly',
      cron: '0 9 * * 1',
      timezone: 'Europe/Berlin',
      request: { message: 'Write the report for {{tick}}.', consumerId: 'user-42' },
    },
    status: 201,
    answer: json(schedule),
  },
  responses: {
    201: { description: 'The schedule.', schema: ref(Schedule) },
    ...integrationRefusals(),
    ...bodyRefusals(),
    ...refusals(409),
  },
});

export const listSchedules = operation({
  operationId: 'listSchedules',
  method: 'GET',
  path: `${integrationPath}/schedules`,
  summary: 'List schedules, newest first',
  tags: ['Schedules'],
  auth: true,
  params: Type.Object(integrationParams),
  query: Type.Object(pageQuery),
  example: { params: integrationExample, query: { limit: 50 }, status: 200, answer: page(schedule) },
  responses: { 200: { description: 'A page of schedules.', schema: ref(ScheduleList) }, ...integrationRefusals() },
});

export const getSchedule = operation({
  operationId: 'getSchedule',
  method: 'GET',
  path: `${integrationPath}/schedules/:scheduleId`,
  summary: 'Read a schedule',
  tags: ['Schedules'],
  auth: true,
  params: scheduleParams,
  example: { params: scheduleExample, status: 200, answer: json(schedule) },
  responses: { 200: { description: 'The schedule.', schema: ref(Schedule) }, ...integrationRefusals() },
});

export const updateSchedule = operation({
  operationId: 'updateSchedule',
  method: 'PATCH',
  path: `${integrationPath}/schedules/:scheduleId`,
  summary: 'Change, pause or resume a schedule',
  description:
    'Fields that the request omits keep their values; `request` is replaced as a whole. `active: false` pauses, and ticks that ' +
    'pass during the pause are not made up for. `active: true` resumes and clears `pausedReason`.',
  tags: ['Schedules'],
  auth: true,
  params: scheduleParams,
  body: ref(UpdateScheduleRequest),
  example: {
    params: scheduleExample,
    body: { active: false },
    status: 200,
    answer: json({ ...schedule, active: false, nextTickAt: null }),
  },
  responses: {
    200: { description: 'The schedule.', schema: ref(Schedule) },
    ...integrationRefusals(),
    ...bodyRefusals(),
    ...refusals(409),
  },
});

export const deleteSchedule = operation({
  operationId: 'deleteSchedule',
  method: 'DELETE',
  path: `${integrationPath}/schedules/:scheduleId`,
  summary: 'Delete a schedule; its runs are kept',
  tags: ['Schedules'],
  auth: true,
  params: scheduleParams,
  example: { params: scheduleExample, status: 204 },
  responses: { 204: { description: 'The schedule was deleted.' }, ...integrationRefusals() },
});

export const runSchedule = operation({
  operationId: 'runSchedule',
  method: 'POST',
  path: `${integrationPath}/schedules/:scheduleId/run`,
  summary: 'Start one run now',
  description:
    'The run is no tick, so the schedule does not change. The answer is the refusal if the run is refused. Each request ' +
    'starts one more run.',
  tags: ['Schedules'],
  auth: true,
  params: scheduleParams,
  body: ref(RunScheduleRequest),
  bodyOptional: true,
  example: { params: scheduleExample, body: {}, status: 202, answer: json({ runId: 'run_1', chatId: 'c1' }) },
  responses: {
    202: { description: 'The run was admitted.', schema: ref(ScheduledRun) },
    ...integrationRefusals(),
    ...bodyRefusals(),
    ...refusals(409, 429),
  },
});

export const listScheduleTicks = operation({
  operationId: 'listScheduleTicks',
  method: 'GET',
  path: `${integrationPath}/schedules/:scheduleId/ticks`,
  summary: "List a schedule's ticks, newest first",
  description: 'Ticks are kept for `RUNWIRE_LOG_DAYS`. Ticks that were not made up for are not listed.',
  tags: ['Schedules'],
  auth: true,
  params: scheduleParams,
  query: Type.Object(pageQuery),
  example: { params: scheduleExample, query: { limit: 50 }, status: 200, answer: page(scheduleTick) },
  responses: { 200: { description: 'A page of ticks.', schema: ref(ScheduleTickList) }, ...integrationRefusals() },
});
