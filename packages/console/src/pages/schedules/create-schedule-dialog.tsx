import type { Schedule } from '@runwire/client';
import { useState } from 'react';
import { api } from '../../app/api.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { ScheduleFields } from './schedule-fields.tsx';
import { readSchedule } from './schedule-input.ts';

interface CreateScheduleDialogProps {
  readonly integration: string;
  readonly onClose: () => void;
  readonly onCreated: (schedule: Schedule) => void;
}

export function CreateScheduleDialog({ integration, onClose, onCreated }: CreateScheduleDialogProps) {
  const [at, setAt] = useState('');
  return (
    <Dialog title="Create a schedule" onClose={onClose}>
      <Form
        submitLabel="Create schedule"
        pendingLabel="Creating…"
        onCancel={onClose}
        onSubmit={async (fields) =>
          onCreated(await api().schedules.create({ apiIntegrationId: integration, ...readSchedule(fields, at) }))
        }
      >
        <ScheduleFields at={at} onAt={setAt} />
      </Form>
    </Dialog>
  );
}
