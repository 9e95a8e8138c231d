import type { Schedule } from '@runwire/client';
import { useState } from 'react';
import { CheckField, SelectField, TextAreaField, TextField } from '../../ui/form.tsx';
import { TimeFilter } from '../../ui/time-filter.tsx';
import { EMPTY_REQUEST, splitRequest } from './schedule-input.ts';

interface ScheduleFieldsProps {
  /** The schedule to change. Undefined for a new one. */
  readonly schedule?: Schedule;
  /** In UTC. Empty if no time is chosen. */
  readonly at: string;
  readonly onAt: (at: string) => void;
}

const KINDS = [
  { value: 'cron', label: 'By a cron pattern' },
  { value: 'every', label: 'At an interval' },
  { value: 'at', label: 'Once' },
];

const CATCH_UP = [
  { value: 'latest', label: 'Run the latest one' },
  { value: 'none', label: 'Run none' },
  { value: 'all', label: 'Run all, at most 24' },
];

const localZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

function getKind({ everySeconds, at }: Schedule): string {
  if (everySeconds !== null) return 'every';
  return at === null ? 'cron' : 'at';
}

/** A form's fields for a new schedule, or for a change. */
export function ScheduleFields({ schedule, at, onAt }: ScheduleFieldsProps) {
  const [kind, setKind] = useState(schedule === undefined ? 'cron' : getKind(schedule));
  return (
    <>
      <TextField
        label="Name"
        name="name"
        hint="For people."
        defaultValue={schedule?.name ?? ''}
        maxLength={256}
        required
      />
      <SelectField label="When" name="kind" choices={KINDS} value={kind} onChange={setKind} />
      {kind === 'cron' && (
        <>
          <TextField
            label="Cron pattern"
            name="cron"
            isCode
            placeholder="0 9 * * 1"
            hint="Minute, hour, day, month, weekday; or six fields with seconds before them."
            defaultValue={schedule?.cron ?? ''}
            maxLength={256}
            required
          />
          <TextField
            label="Time zone"
            name="timezone"
            hint="An IANA name, such as Europe/Berlin."
            defaultValue={schedule?.timezone ?? localZone()}
            maxLength={64}
          />
        </>
      )}
      {kind === 'every' && (
        <TextField
          label="Seconds between two ticks"
          name="everySeconds"
          type="number"
          hint="At least 60, counted from when the schedule was created."
          defaultValue={schedule?.everySeconds ?? ''}
          min={60}
          max={31_536_000}
          required
        />
      )}
      {kind === 'at' && <TimeFilter label="Time, in your zone" name="at" value={at} onChange={onAt} />}
      <RequestFields schedule={schedule} />
      <SelectField
        label="Ticks that pass while no server runs"
        name="catchUp"
        choices={CATCH_UP}
        defaultValue={schedule?.catchUp ?? 'latest'}
      />
      <CheckField
        label="Active"
        name="active"
        hint="Ticks that pass while the schedule is paused are not run later."
        defaultChecked={schedule?.active ?? true}
      />
    </>
  );
}

function RequestFields({ schedule }: { readonly schedule: Schedule | undefined }) {
  const texts = schedule === undefined ? EMPTY_REQUEST : splitRequest(schedule.request);
  return (
    <>
      <TextAreaField
        label="Message"
        name="message"
        hint="{{tick}} becomes the tick's time."
        defaultValue={texts.message}
        rows={3}
        required
      />
      <TextField
        label="Agent"
        name="agent"
        hint="If it is empty, the default agent of the integration."
        defaultValue={texts.agent}
      />
      <TextField
        label="Chat id"
        name="chatId"
        hint="Each run continues this chat. Without an id, each tick starts a new chat."
        defaultValue={texts.chatId}
      />
      <TextField
        label="Member id"
        name="consumerId"
        hint="The member whose allowance is charged. Needed if the integration has allowances."
        defaultValue={texts.consumerId}
      />
      <TextAreaField
        label="Other fields of the request"
        name="rest"
        hint="A JSON object with other fields of POST /get_completion_v2."
        defaultValue={texts.rest}
        rows={3}
        isCode
      />
    </>
  );
}
