import type { CancelResult, RunRecord } from '@runwire/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../app/api.ts';
import { CANCEL_ANSWERS } from '../../lib/cancel-answers.ts';
import { formatNumber } from '../../lib/format.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Status } from '../../ui/feedback.tsx';
import { Form, SelectField } from '../../ui/form.tsx';
import { InfoDialog } from '../../ui/info-dialog.tsx';

interface CancelDialogProps {
  readonly run: RunRecord;
  readonly onClose: () => void;
}

const MODES = [
  { value: 'immediate', label: 'Now' },
  { value: 'after_step', label: 'After the current step' },
];

/** Cancels a run, and shows what the server answers. */
export function CancelDialog({ run: { apiIntegrationId, runId }, onClose }: CancelDialogProps) {
  const client = useQueryClient();
  const [answer, setAnswer] = useState<CancelResult | null>(null);
  if (answer !== null) {
    return (
      <InfoDialog title="Answer of the server" onClose={onClose}>
        <p role="status" className="row">
          <Status status={answer.status} />
          <span>{CANCEL_ANSWERS[answer.status]}</span>
        </p>
        {answer.usage !== null && <p>Used tokens: {formatNumber(answer.usage.total_tokens)}</p>}
      </InfoDialog>
    );
  }
  return (
    <Dialog title="Cancel this run?" onClose={onClose}>
      <Form
        isGuarded={false}
        submitLabel="Cancel the run"
        pendingLabel="Cancelling…"
        isDanger
        onCancel={onClose}
        cancelLabel="Let it run"
        onSubmit={async (fields) => {
          const mode = fields.text('mode') === 'after_step' ? 'after_step' : 'immediate';
          setAnswer(await api().runs.cancel({ apiIntegrationId, runId, mode }));
          await client.invalidateQueries({ queryKey: ['runs', apiIntegrationId] });
        }}
      >
        <p>The text so far is kept and marked as cancelled. What was used is charged.</p>
        <SelectField label="When" name="mode" choices={MODES} />
      </Form>
    </Dialog>
  );
}
