import type { RunRecord } from '@runwire/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { api } from '../../app/api.ts';
import { agenciesQuery } from '../../app/queries.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { type Fields, Form, TextField } from '../../ui/form.tsx';
import { May } from '../../ui/may.tsx';

type OriginalRun = Pick<RunRecord, 'apiIntegrationId' | 'runId'>;

/** Lets another model answer the same message, and shows both answers side by side. */
export function OtherModelButton({ run }: { readonly run: OriginalRun }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <May call="rerunRun">
      <button type="button" className="button button-small" onClick={() => setOpen(true)}>
        Compare models
      </button>
      {isOpen && <OtherModelDialog run={run} onClose={() => setOpen(false)} />}
    </May>
  );
}

interface OtherModelDialogProps {
  readonly run: OriginalRun;
  readonly onClose: () => void;
}

function OtherModelDialog({ run: { apiIntegrationId: integration, runId }, onClose }: OtherModelDialogProps) {
  const listId = useId();
  const client = useQueryClient();
  const navigate = useNavigate();
  const { data: agencies = [] } = useQuery(agenciesQuery);
  const models = new Set(agencies.flatMap(({ agents }) => agents.flatMap(({ model }) => model ?? [])));
  const start = async (fields: Fields) => {
    const rerun = api().rerun({ apiIntegrationId: integration, runId, model: fields.text('model'), tools: 'recorded' });
    const { runId: other } = await rerun.admitted;
    // The page that compares reads the run.
    rerun.detach();
    void client.invalidateQueries({ queryKey: ['runs', integration] });
    await navigate({
      to: '/integrations/$integration/runs/$run/compare',
      params: { integration, run: runId },
      search: { with: other },
    });
    onClose();
  };
  return (
    <Dialog title="Compare models" onClose={onClose}>
      <Form submitLabel="Compare" pendingLabel="Starting…" onCancel={onClose} onSubmit={start}>
        <p className="muted">
          Another model answers the same message in a copy of the chat. Calls of tools get their earlier outcomes, and
          no member is charged.
        </p>
        <TextField
          label="Model"
          name="model"
          isCode
          required
          maxLength={200}
          spellCheck={false}
          list={listId}
          hint={
            <>
              As <code>provider/model</code>. It counts for the first agent and for agents that name no model.
            </>
          }
        />
        <datalist id={listId}>
          {[...models].map((model) => (
            <option key={model} value={model} />
          ))}
        </datalist>
      </Form>
    </Dialog>
  );
}
