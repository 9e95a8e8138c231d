import type { Schedule } from '@runwire/client';
import { useState } from 'react';
import { api } from '../../app/api.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { ScheduleFields } from './schedule-fields.tsx';
import { changedSchedule, readSchedule } from './schedule-input.ts';

interface EditScheduleDialogProps {
  readonly integration: string;
  readonly schedule: Schedule;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

export function EditScheduleDialog({ integration, schedule, onClose, onChanged }: EditScheduleDialogProps) {
  // The schedule may be read again while the dialog is open.
  const [seen] = useState(schedule);
  const [at, setAt] = useState(schedule.at ?? '');
  return (
    <Dialog title="Change the schedule" onClose={onClose}>
      <Form
        submitLabel="Save"
        pendingLabel="Saving…"
        onCancel={onClose}
        onSubmit={async (fields) => {
          const ids = { apiIntegrationId: integration, scheduleId: seen.scheduleId };
          await api().schedules.update({ ...ids, ...changedSchedule(seen, readSchedule(fields, at)) });
          onChanged();
        }}
      >
        <ScheduleFields schedule={seen} at={at} onAt={setAt} />
      </Form>
    </Dialog>
  );
}
