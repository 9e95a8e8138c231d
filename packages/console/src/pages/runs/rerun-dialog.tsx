import type { RunRecord } from '@runwire/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../app/api.ts';
import { agenciesQuery, integrationQuery } from '../../app/queries.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Loading } from '../../ui/feedback.tsx';
import { CheckField, type Fields, Form, SelectField, TextAreaField } from '../../ui/form.tsx';
import { definitionQuery, joinInstructions } from '../agencies/agency-definition.ts';
import { ModelField } from '../integrations/model-field.tsx';
import { readContext } from '../playground/user-context.ts';
import { inputQuery } from './run-queries.ts';

interface RerunDialogProps {
  readonly run: RunRecord;
  /** The last step that is kept. 0 if none is. */
  readonly afterStep: number;
  readonly onClose: () => void;
}

const TOOLS = [
  { value: 'recorded', label: 'Recorded: calls get their earlier outcomes' },
  { value: 'live', label: 'Live: tools are called again' },
];

const TOOL_HINTS: Readonly<Record<string, string>> = {
  recorded: 'Calls that the run did not make are executed only if the tool may be repeated.',
  live: 'What the tools do happens once more, and files that they change are changed for everyone.',
};

/** Runs a run again, from its beginning or after one of its steps, and opens the page of the new run. */
export function RerunDialog({ run, afterStep, onClose }: RerunDialogProps) {
  const { apiIntegrationId: integration, runId } = run;
  const client = useQueryClient();
  const navigate = useNavigate();
  const input = useQuery({ ...inputQuery(run), enabled: afterStep === 0 });
  // As a text field has it.
  const message = (input.data?.content ?? '').replace(/\r\n?/g, '\n');
  const start = async (fields: Fields) => {
    const typed = fields.exact('message');
    const rerun = api().rerun({
      apiIntegrationId: integration,
      runId,
      afterStep,
      ...(afterStep === 0 && typed !== message && { message: typed }),
      agency: fields.optional('agency'),
      agent: fields.optional('agent'),
      model: fields.optional('model'),
      instructions: fields.optional('instructions'),
      user_context: readContext(fields.text('user_context')),
      tools: fields.text('tools') === 'live' ? 'live' : 'recorded',
      keep: fields.checked('keep'),
    });
    const started = await rerun.admitted;
    // The page of the run reads its events.
    rerun.detach();
    void client.invalidateQueries({ queryKey: ['runs', integration] });
    await navigate({ to: '/integrations/$integration/runs/$run', params: { integration, run: started.runId } });
    onClose();
  };
  return (
    <Dialog title={afterStep === 0 ? 'Run again' : `Run again from step ${afterStep}`} isWide onClose={onClose}>
      {afterStep === 0 && input.isLoading ? (
        <Loading what="the message" />
      ) : (
        <Form submitLabel="Run again" pendingLabel="Starting…" onCancel={onClose} onSubmit={start}>
          <p className="muted">
            {afterStep > 0 && `The steps up to ${afterStep} stay as they were, and everything after them is new. `}
            The rerun happens in a copy of the chat. The chat itself stays as it is, and no member is charged.
          </p>
          {afterStep === 0 && <TextAreaField label="Message" name="message" rows={3} defaultValue={message} />}
          <ChangeFields run={run} />
          <TextAreaField
            label="user_context"
            name="user_context"
            isCode
            rows={2}
            hint="JSON for tools and instructions. That of the run is not stored."
          />
          <CheckField
            label="Keep the chat"
            name="keep"
            hint="Otherwise it is not listed, and deleted after some days."
          />
        </Form>
      )}
    </Dialog>
  );
}

/** What is changed: model, tools, agency, agent, and instructions, which can begin with those of the agent. */
function ChangeFields({ run }: Pick<RerunDialogProps, 'run'>) {
  const { data: settings } = useQuery(integrationQuery(run.apiIntegrationId));
  const { data: agencies = [] } = useQuery(agenciesQuery);
  const [agencyId, setAgency] = useState('');
  const [agent, setAgent] = useState('');
  const [filledIn, setFilledIn] = useState('');
  const agency = agencies.find((one) => one.agency === (agencyId || settings?.agency));
  const { data: definition } = useQuery(definitionQuery(agency));
  const defined = definition?.agents.find(({ name }) => name === (agent || run.agent));
  const instructions = definition === undefined || defined === undefined ? '' : joinInstructions(definition, defined);
  return (
    <>
      <div className="grid">
        <ModelField agents="the first agent and agents that name no model" empty="as in any run" />
        <ToolsField />
        <SelectField
          label="Agency"
          name="agency"
          choices={[
            { value: '', label: 'As in the run' },
            ...agencies
              .filter(({ version }) => version !== null)
              .map(({ agency: value, name }) => ({ value, label: name === null ? value : `${name} (${value})` })),
          ]}
          value={agencyId}
          onChange={(value) => {
            setAgency(value);
            setAgent('');
          }}
        />
        <SelectField
          label="Agent"
          name="agent"
          choices={[
            { value: '', label: `As in the run (${run.agent})` },
            ...(agency?.entryPoints ?? []).map((value) => ({ value, label: value })),
          ]}
          value={agent}
          onChange={setAgent}
        />
      </div>
      <TextAreaField
        key={filledIn}
        label="Instructions"
        name="instructions"
        rows={filledIn === '' ? 2 : 8}
        defaultValue={filledIn}
        hint="Instead of those of the first agent. Placeholders are not filled in. Empty: its own."
      />
      {instructions !== '' && filledIn === '' && (
        <div>
          <button type="button" className="button button-small" onClick={() => setFilledIn(instructions)}>
            Begin with its own instructions
          </button>
        </div>
      )}
    </>
  );
}

function ToolsField() {
  const [tools, setTools] = useState('recorded');
  return (
    <SelectField
      label="Tools"
      name="tools"
      choices={TOOLS}
      value={tools}
      hint={TOOL_HINTS[tools]}
      onChange={setTools}
    />
  );
}
