import type { Agency, Integration } from '@runwire/client';
import { useQuery } from '@tanstack/react-query';
import { shorten } from '../../lib/shorten.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { SelectField } from '../../ui/form.tsx';
import { LongText } from '../../ui/long-text.tsx';
import { definitionQuery, joinInstructions } from '../agencies/agency-definition.ts';
import type { Addressee } from '../transcript/conversation.ts';
import { AddresseeFields } from './addressee-fields.tsx';
import { ContextField } from './context-field.tsx';
import { listVariables } from './user-context.ts';

interface SettingsPaneProps extends Addressee {
  readonly integration: string;
  /** Undefined until it is read. */
  readonly settings: Integration | undefined;
  readonly agency: Agency | undefined;
  /** The agent that the next message is for. */
  readonly agentName: string | undefined;
  /** The agent that gets each message too, in a second column. */
  readonly comparedAgent: string | undefined;
  readonly context: string;
  readonly onAddressee: (changed: Partial<Addressee>) => void;
  readonly onCompare: (agent: string | undefined) => void;
  readonly onContext: (text: string) => void;
}

const wide = window.matchMedia('(min-width: 84rem)');

/** What the next request has besides its message. */
export function SettingsPane(props: SettingsPaneProps) {
  const { integration, settings, agency, agentName, member, agent, comparedAgent, context } = props;
  const { data: definition, error, refetch } = useQuery(definitionQuery(agency));
  const defined = definition?.agents.find(({ name }) => name === agentName);
  const instructions = definition === undefined || defined === undefined ? '' : joinInstructions(definition, defined);
  const model = agency?.agents.find(({ name }) => name === agentName)?.model ?? settings?.model ?? null;
  const choices = [
    { value: '', label: 'None' },
    ...(agency?.entryPoints ?? []).map((name) => ({ value: name, label: name })),
  ];
  return (
    <aside className="workbench-settings" aria-label="Settings">
      <AddresseeFields
        apiIntegrationId={integration}
        agency={agency}
        needsMember={settings && settings.allowances !== null}
        defaultAgent={settings?.defaultAgent ?? null}
        member={member}
        agent={agent}
        onChange={props.onAddressee}
      />
      <details className="part" open={wide.matches}>
        <summary>
          <span className="part-title">More settings</span>
        </summary>
        <div className="part-body">
          <dl className="definition">
            <dt>Model</dt>
            <dd>{model === null ? 'of the server' : <code>{shorten(model, 80)}</code>}</dd>
          </dl>
          <SelectField
            label="Compare with"
            name="compare"
            choices={choices}
            value={comparedAgent ?? ''}
            hint="Each message is sent to both agents, in two chats."
            onChange={(value) => props.onCompare(value === '' ? undefined : value)}
          />
          <ContextField text={context} variables={listVariables(instructions)} onChange={props.onContext} />
          <section className="stack-tight" aria-label="Instructions">
            <h2>Instructions</h2>
            {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
            {instructions !== '' && (
              <div className="workbench-instructions small">
                <LongText text={instructions} maxShown={4000} />
              </div>
            )}
            {defined?.instructions === null && (
              <p className="muted small">
                A function of the agency {instructions === '' ? 'makes them.' : 'makes those of this agent.'}
              </p>
            )}
          </section>
        </div>
      </details>
    </aside>
  );
}
