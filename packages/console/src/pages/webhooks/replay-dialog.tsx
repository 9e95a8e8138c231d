import { useState } from 'react';
import { api } from '../../app/api.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, SelectField } from '../../ui/form.tsx';
import { TimeFilter } from '../../ui/time-filter.tsx';
import { EVENT_TYPES, type EventType } from './event-types.ts';

interface ReplayDialogProps {
  readonly integration: string;
  readonly endpointId: string;
  readonly onClose: () => void;
  readonly onReplayed: (deliveries: number) => void;
}

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** Fields of times have no seconds. */
const toMinute = (ms: number) => new Date(Math.ceil(ms / MINUTE_MS) * MINUTE_MS).toISOString();

export function ReplayDialog({ integration, endpointId, onClose, onReplayed }: ReplayDialogProps) {
  const [period, setPeriod] = useState(() => ({ from: toMinute(Date.now() - DAY_MS), to: toMinute(Date.now()) }));
  return (
    <Dialog title="Replay a period" onClose={onClose}>
      <Form
        submitLabel="Replay"
        pendingLabel="Replaying…"
        onCancel={onClose}
        onSubmit={async (fields) => {
          const type = fields.optional('type') as EventType | undefined;
          const types = type === undefined ? {} : { types: [type] };
          const input = { apiIntegrationId: integration, endpointId, ...period, ...types };
          onReplayed((await api().webhooks.replay(input)).deliveries);
        }}
      >
        <p>
          Events of this time are sent again, also delivered ones. They keep their <code>webhook-id</code>, so a
          receiver ignores events that it has already handled.
        </p>
        <TimeFilter
          label="From"
          name="from"
          value={period.from}
          onChange={(from) => from !== '' && setPeriod({ ...period, from })}
        />
        <TimeFilter
          label="To"
          name="to"
          value={period.to}
          onChange={(to) => to !== '' && setPeriod({ ...period, to })}
        />
        <SelectField
          label="Type"
          name="type"
          choices={[
            { value: '', label: 'All types of the endpoint' },
            ...EVENT_TYPES.map(([type]) => ({ value: type, label: type })),
          ]}
        />
      </Form>
    </Dialog>
  );
}
