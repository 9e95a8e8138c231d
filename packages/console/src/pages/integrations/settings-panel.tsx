import type { Agency, Integration } from '@runwire/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useId, useState } from 'react';
import { api } from '../../app/api.ts';
import { agenciesQuery, integrationQuery } from '../../app/queries.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Loading } from '../../ui/feedback.tsx';
import { CheckField, type Fields, Form, SelectField, TextField } from '../../ui/form.tsx';
import { useMay } from '../../ui/may.tsx';
import { notify } from '../../ui/toasts.tsx';
import { AgencyFields } from './agency-fields.tsx';
import { AllowanceFields } from './allowance-fields.tsx';
import { COMPATIBLE_APIS, changedSettings } from './changed-settings.ts';
import { DeleteIntegration } from './delete-integration.tsx';
import { ModelField } from './model-field.tsx';

const FILE_ACCESS = [
  { value: 'chat', label: 'Files of the chat' },
  { value: 'member', label: 'Files of the chat and of the member' },
  { value: 'all', label: 'All files of the integration' },
];

const ON_DISCONNECT = [
  { value: 'continue', label: 'The run continues' },
  { value: 'cancel', label: 'The run is cancelled' },
];

interface SettingsPanelProps {
  readonly integration: Integration;
}

export function SettingsPanel({ integration }: SettingsPanelProps) {
  const { data: agencies, error, refetch } = useQuery(agenciesQuery);
  if (agencies === undefined) {
    return error === null ? <Loading what="agencies" /> : <ErrorNotice error={error} onRetry={() => void refetch()} />;
  }
  return (
    <div className="stack-wide settings">
      <SettingsForm integration={integration} agencies={agencies} />
      <DeleteIntegration integration={integration} />
    </div>
  );
}

interface SettingsFormProps extends SettingsPanelProps {
  readonly agencies: readonly Agency[];
}

function SettingsForm({ integration, agencies }: SettingsFormProps) {
  const client = useQueryClient();
  const mayChange = useMay('updateIntegration');
  // Changes are found against what the fields began with, also if another person saves in the meantime.
  const [seen, setSeen] = useState(integration);
  const [maxRunSeconds, setMaxRunSeconds] = useState(String(integration.maxRunSeconds));
  const save = async (fields: Fields) => {
    const changes = changedSettings(seen, fields);
    if (Object.keys(changes).length === 0) {
      notify('There is nothing to save: no setting was changed.');
      return;
    }
    const { apiIntegrationId } = integration;
    const saved = await api().integrations.update({ apiIntegrationId, ...changes });
    // What another person has changed is not in the fields, so a later save must not see it as changed here.
    const own = Object.fromEntries(Object.keys(changes).map((name) => [name, saved[name as keyof Integration]]));
    setSeen((before) => ({ ...before, ...own }));
    // An empty field means the server's default, which the answer has.
    setMaxRunSeconds(String(saved.maxRunSeconds));
    client.setQueryData(integrationQuery(apiIntegrationId).queryKey, saved);
    void client.invalidateQueries({ queryKey: ['integrations'], exact: true });
    notify('The settings are saved.');
  };
  return (
    <Form submitLabel="Save settings" pendingLabel="Saving…" isReadOnly={!mayChange} onSubmit={save}>
      {!mayChange && <p className="muted">Your role can read the settings. Developers can change them.</p>}
      <Group title="Agency">
        <TextField
          label="Name"
          name="name"
          defaultValue={seen.name ?? ''}
          maxLength={200}
          required
          hint="For people."
        />
        <AgencyFields agencies={agencies} agency={seen.agency} agent={seen.defaultAgent} />
        <ModelField model={seen.model} />
        <Flag
          label="Text Only Mode"
          name="textOnly"
          settings={seen}
          hint="Answers are plain text instead of a stream of events."
        />
        <Flag
          label="Tools of the caller"
          name="clientTools"
          settings={seen}
          hint={
            <>
              Requests may bring tools that your own program runs (<code>clientTools</code>).
            </>
          }
        />
        <Flag
          label="Instructions of the caller"
          name="callerInstructions"
          settings={seen}
          hint={
            <>
              Requests may add to the instructions of the agent (<code>instructions</code>).
            </>
          }
        />
      </Group>
      <Group title="Compatible APIs">
        {COMPATIBLE_APIS.map(({ name, label }) => (
          <CheckField
            key={name}
            label={label}
            name={`compatibleApis.${name}`}
            defaultChecked={seen.compatibleApis.includes(name)}
          />
        ))}
      </Group>
      <Group title="Members">
        <AllowanceFields allowances={seen.allowances} />
        <Flag
          label="Register unknown members"
          name="autoRegister"
          settings={seen}
          hint="Compatible APIs register a member with its first run."
        />
        <TextField
          label="Concurrent runs of a member"
          name="maxRunsPerMember"
          {...between(1, 1_000_000)}
          defaultValue={seen.maxRunsPerMember ?? ''}
          hint="More are refused until one ends. Empty: no limit."
        />
      </Group>
      <Group title="Runs">
        <TextField
          label="Longest run, in seconds"
          name="maxRunSeconds"
          {...between(1, 86_400)}
          value={maxRunSeconds}
          onChange={({ target }) => setMaxRunSeconds(target.value)}
          hint="A longer run fails. Empty: the default of the server."
        />
        <SelectField
          label="If the reader disconnects"
          name="onDisconnect"
          choices={ON_DISCONNECT}
          defaultValue={seen.onDisconnect}
          hint="Applies after 10 s without any reader. A run that continues can be read later."
        />
      </Group>
      <Group title="Files">
        <SelectField
          label="File access"
          name="fileAccess"
          choices={FILE_ACCESS}
          defaultValue={seen.fileAccess}
          hint="What the agents of a run see. Files of the chat were announced in it or made by its runs."
        />
        <TextField
          label="Folder of a member"
          name="memberFolder"
          isCode
          maxLength={1000}
          spellCheck={false}
          required
          defaultValue={seen.memberFolder}
          hint={
            <>
              <code>{'{consumerId}'}</code> is replaced by the id of the member. It must be a whole part of the path.
            </>
          }
        />
        <TextField
          label="Quota of all files, in bytes"
          name="quotaBytes"
          {...between(0, 2 ** 50)}
          defaultValue={seen.quotaBytes ?? ''}
          hint="More is refused. Empty: the default of the server. 0: no quota."
        />
        <TextField
          label="Quota of a member's folder, in bytes"
          name="memberQuotaBytes"
          {...between(0, 2 ** 50)}
          defaultValue={seen.memberQuotaBytes ?? ''}
          hint="Counts the files below the folder of one member. Empty: the default of the server. 0: no quota."
        />
        <Flag
          label="Keep attachments"
          name="keepAttachments"
          settings={seen}
          hint="The server keeps a copy of each fetched attachment as long as its chat exists."
        />
      </Group>
    </Form>
  );
}

type FlagName = { [K in keyof Integration]: Integration[K] extends boolean ? K : never }[keyof Integration];

interface FlagProps {
  readonly label: string;
  readonly name: FlagName;
  readonly settings: Integration;
  readonly hint: ReactNode;
}

/** A setting that is on or off. */
function Flag({ name, settings, ...field }: FlagProps) {
  return <CheckField name={name} defaultChecked={settings[name]} {...field} />;
}

/** A field for a whole number. */
const between = (min: number, max: number) => ({ type: 'number', min, max, step: 1 }) as const;

interface GroupProps {
  readonly title: string;
  readonly children: ReactNode;
}

function Group({ title, children }: GroupProps) {
  const id = useId();
  return (
    <section className="card stack" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <div className="settings-grid">{children}</div>
    </section>
  );
}
