import type { CreateScheduleRequest, Schedule, ScheduleRequest } from '@runwire/client';
import { InputError } from '../../app/errors.ts';
import { readObject } from '../../app/read-object.ts';
import { formatJson } from '../../lib/format.ts';
import type { Fields } from '../../ui/form.tsx';

/** What a form shows of a request: some fields, and all others as JSON. */
export type RequestTexts = Readonly<Record<(typeof OWN_FIELDS)[number] | 'rest', string>>;

const OWN_FIELDS = ['message', 'agent', 'chatId', 'consumerId'] as const;

export const EMPTY_REQUEST: RequestTexts = { message: '', agent: '', chatId: '', consumerId: '', rest: '' };

export function splitRequest({ message, agent, chatId, consumerId, ...rest }: ScheduleRequest): RequestTexts {
  return {
    message,
    agent: agent ?? '',
    chatId: chatId ?? '',
    consumerId: consumerId ?? '',
    rest: Object.keys(rest).length === 0 ? '' : formatJson(rest),
  };
}

/** Reads what `ScheduleFields` shows. `at` is typed in the browser's zone and kept apart from the form. */
export function readSchedule(fields: Fields, at: string): CreateScheduleRequest {
  return {
    name: fields.text('name'),
    ...readTiming(fields, at),
    catchUp: fields.text('catchUp') as Schedule['catchUp'],
    active: fields.checked('active'),
    request: joinRequest({
      message: fields.exact('message'),
      agent: fields.text('agent'),
      chatId: fields.text('chatId'),
      consumerId: fields.text('consumerId'),
      rest: fields.text('rest'),
    }),
  };
}

function readTiming(fields: Fields, at: string): Partial<CreateScheduleRequest> {
  const kind = fields.text('kind');
  if (kind === 'cron') return { cron: fields.text('cron'), timezone: fields.optional('timezone') ?? 'UTC' };
  if (kind === 'every') return { everySeconds: fields.number('everySeconds') };
  if (at === '') throw new InputError('Choose the time of the tick.');
  return { at };
}

const OTHER_FIELDS = {
  name: 'rest',
  label: 'The other fields',
  isPlural: true,
  example: '{"user_context": "Weekly"}',
};

function joinRequest({ message, agent, chatId, consumerId, rest }: RequestTexts): ScheduleRequest {
  const others = rest === '' ? {} : readObject(rest, OTHER_FIELDS);
  const repeated = OWN_FIELDS.find((field) => field in others);
  if (repeated !== undefined)
    throw new InputError(`Leave \`${repeated}\` out of the JSON: it has its own field.`, 'rest');
  return {
    message,
    ...(agent !== '' && { agent }),
    ...(chatId !== '' && { chatId }),
    ...(consumerId !== '' && { consumerId }),
    ...others,
  };
}

/** The fields that differ from what the person saw. The server keeps all others as they are now. */
export function changedSchedule(seen: Schedule, input: CreateScheduleRequest): Partial<CreateScheduleRequest> {
  const before = { ...seen, request: joinRequest(splitRequest(seen.request)) };
  return Object.fromEntries(
    Object.entries(input).filter(
      ([field, value]) => JSON.stringify(value) !== JSON.stringify(before[field as keyof CreateScheduleRequest]),
    ),
  );
}
