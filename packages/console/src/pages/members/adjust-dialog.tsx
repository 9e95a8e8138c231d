import type { Allowance } from '@runwire/client';
import { useState } from 'react';
import { api } from '../../app/api.ts';
import { formatNumber } from '../../lib/format.ts';
import { randomId } from '../../lib/random-id.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, SelectField, TextField } from '../../ui/form.tsx';

interface AdjustDialogProps {
  readonly integration: string;
  readonly consumerId: string;
  readonly allowance: Allowance;
  readonly onClose: () => void;
  readonly onAdjusted: () => void;
}

const DIRECTIONS = [
  { value: '1', label: 'Give back: less counts as used' },
  { value: '-1', label: 'Take: more counts as used' },
];

/** Corrects a member's usage. One dialog has one key, so that a repeated request adjusts once. */
export function AdjustDialog({ integration, consumerId, allowance, onClose, onAdjusted }: AdjustDialogProps) {
  const [idempotencyKey] = useState(() => `console-${randomId()}`);
  const { unit, used } = allowance;
  return (
    <Dialog title="Adjust the usage" onClose={onClose}>
      <Form
        submitLabel="Adjust"
        pendingLabel="Adjusting…"
        onCancel={onClose}
        onSubmit={async (fields) => {
          const amount = Number(fields.text('direction')) * (fields.number('amount') ?? 0);
          const reason = fields.text('reason');
          const input = { apiIntegrationId: integration, consumerId, unit, amount, reason, idempotencyKey };
          await api().members.adjust(input);
          onAdjusted();
        }}
      >
        <p>
          {formatNumber(used)} {unit} count as used in the current period.
        </p>
        <SelectField label="Direction" name="direction" choices={DIRECTIONS} />
        <TextField label={`Amount in ${unit}`} name="amount" type="number" min={0} step="any" required />
        <TextField
          label="Reason"
          name="reason"
          hint="For people. It is shown in the list and in exports of usage."
          maxLength={500}
          required
        />
      </Form>
    </Dialog>
  );
}
