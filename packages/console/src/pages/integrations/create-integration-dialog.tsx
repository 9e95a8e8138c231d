import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { api } from '../../app/api.ts';
import { agenciesQuery } from '../../app/queries.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Loading } from '../../ui/feedback.tsx';
import { CheckField, type Fields, Form, TextField } from '../../ui/form.tsx';
import { notify } from '../../ui/toasts.tsx';
import { AgencyFields } from './agency-fields.tsx';
import { ModelField } from './model-field.tsx';

interface CreateIntegrationDialogProps {
  readonly onClose: () => void;
}

async function create(fields: Fields) {
  const apiIntegrationId = fields.optional('apiIntegrationId');
  const defaultAgent = fields.optional('defaultAgent');
  const model = fields.optional('model');
  return api().integrations.create({
    name: fields.text('name'),
    agency: fields.exact('agency'),
    textOnly: fields.checked('textOnly'),
    apiIntegrationId,
    defaultAgent,
    model,
  });
}

export function CreateIntegrationDialog({ onClose }: CreateIntegrationDialogProps) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { data: agencies, error, refetch } = useQuery(agenciesQuery);
  // Own agencies come first: the demo is rarely what a person wants.
  const first =
    agencies?.find(({ source, version }) => source !== 'bundled' && version !== null) ??
    agencies?.find(({ version }) => version !== null);
  return (
    <Dialog title="Create an integration" onClose={onClose}>
      {agencies === undefined && error === null && <Loading what="agencies" />}
      {agencies === undefined && error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {agencies !== undefined && (
        <Form
          submitLabel="Create integration"
          pendingLabel="Creating…"
          onCancel={onClose}
          onSubmit={async (fields) => {
            const { apiIntegrationId, name } = await create(fields);
            void client.invalidateQueries({ queryKey: ['integrations'] });
            notify(`The integration ${name ?? apiIntegrationId} is created.`);
            await navigate({ to: '/integrations/$integration', params: { integration: apiIntegrationId } });
          }}
        >
          <TextField
            label="Name"
            name="name"
            hint="For people, such as the product it is for."
            maxLength={200}
            required
          />
          <TextField
            label="Id (optional)"
            name="apiIntegrationId"
            isCode
            maxLength={64}
            spellCheck={false}
            hint="Your backend sends it with each request. Letters, digits, _ and -. After a deletion it cannot be used again. Empty: the server chooses one."
          />
          <AgencyFields agencies={agencies} agency={first?.agency ?? ''} agent={first?.defaultAgent ?? null} />
          <ModelField />
          <CheckField
            label="Text Only Mode"
            name="textOnly"
            hint="Answers are plain text instead of a stream of events."
          />
        </Form>
      )}
    </Dialog>
  );
}
