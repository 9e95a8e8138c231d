import { GetCompletionV2Request } from './completion.ts';
import { displayName, flag, named, nullable, oneOfStrings, ref, strictObject, text, time, toList } from './kit.ts';
import { Type } from './type.ts';

const {
  apiIntegrationId,
  usageRequestId: _own,
  answers: _open,
  history: _past,
  ...fields
} = GetCompletionV2Request.properties;

export const ScheduleRequest = named(
  'ScheduleRequest',
  strictObject(
    { apiIntegrationId: Type.Optional(apiIntegrationId), ...fields },
    {
      description:
        'What `POST /get_completion_v2` takes, without `usageRequestId`, `answers` and `history`; at most 256 KiB as JSON. ' +
        "`{{tick}}` in `message` is replaced by the tick's time. Without `chatId` each tick makes a new chat.",
    },
  ),
);

const cron = () =>
  nullable(
    text('Five fields: minute, hour, day, month, weekday; or six with seconds before them, at least 10 s apart.', {
      maxLength: 256,
    }),
  );
const everySeconds = () =>
  nullable(Type.Integer({ minimum: 60, maximum: 31_536_000, description: 'Seconds between two ticks.' }));
const at = () => nullable(time('When the only tick is due.'));
const timezone = () => text('The IANA time zone in which `cron` is read.', { maxLength: 64 });
const catchUp = () =>
  oneOfStrings(['latest', 'none', 'all'], {
    description:
      'Which ticks run later if they passed while no node was running: only the latest, none, or all, at most 24.',
  });
const active = () => flag('False if the schedule is paused, or its only tick has passed.');
const name = () => displayName('Name for people.');

export const Schedule = named(
  'Schedule',
  Type.Object(
    {
      scheduleId: text("The schedule's id."),
      name: text('Name for people.'),
      cron: cron(),
      everySeconds: everySeconds(),
      at: at(),
      timezone: timezone(),
      request: ref(ScheduleRequest),
      catchUp: catchUp(),
      active: active(),
      pausedReason: nullable(text('Why the server paused the schedule. Null if it did not.')),
      nextTickAt: nullable(time('When the next tick is due. Null if there is none.')),
      createdAt: time('When the schedule was created. `everySeconds` counts from here.'),
      updatedAt: time('When the schedule was last changed.'),
    },
    { description: 'Runs that start by themselves. Only `cron`, `everySeconds` or `at` is not null.' },
  ),
);

export const ScheduleList = toList('ScheduleList', Schedule);

export const CreateScheduleRequest = named(
  'CreateScheduleRequest',
  strictObject(
    {
      name: name(),
      cron: Type.Optional(cron()),
      everySeconds: Type.Optional(everySeconds()),
      at: Type.Optional(at()),
      timezone: Type.Optional(timezone()),
      request: ref(ScheduleRequest),
      catchUp: Type.Optional(catchUp()),
      active: Type.Optional(active()),
    },
    { description: 'The new schedule, with `cron`, `everySeconds` or `at`.' },
  ),
);

export const UpdateScheduleRequest = named(
  'UpdateScheduleRequest',
  strictObject(
    {
      name: Type.Optional(name()),
      cron: Type.Optional(cron()),
      everySeconds: Type.Optional(everySeconds()),
      at: Type.Optional(at()),
      timezone: Type.Optional(timezone()),
      request: Type.Optional(ref(ScheduleRequest)),
      catchUp: Type.Optional(catchUp()),
      active: Type.Optional(active()),
    },
    { description: 'The fields to set. `cron`, `everySeconds` or `at` replaces the other two.' },
  ),
);

export const ScheduleTick = named(
  'ScheduleTick',
  Type.Object(
    {
      tick: time('When the tick was due.'),
      runId: nullable(text("The tick's run. Null if there is none.")),
      code: nullable(text("Why there is no run: the refusal's code. Null if there is a run.")),
      error: nullable(text("The refusal's sentence, for people.")),
      at: time('When the server recorded this.'),
    },
    { description: 'What happened at a tick.' },
  ),
);

export const ScheduleTickList = toList('ScheduleTickList', ScheduleTick);

export const RunScheduleRequest = named('RunScheduleRequest', strictObject({}, { description: 'It has no fields.' }));

export const ScheduledRun = named(
  'ScheduledRun',
  Type.Object(
    { runId: text("The run's id."), chatId: text("Its chat's id.") },
    { description: 'A run that was started besides the ticks.' },
  ),
);
