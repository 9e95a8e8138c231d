import type { Agency } from '@runwire/client';
import { SelectField } from '../../ui/form.tsx';
import { MemberField } from '../../ui/member-field.tsx';
import type { Addressee } from '../transcript/conversation.ts';

interface AddresseeFieldsProps extends Addressee {
  readonly apiIntegrationId: string;
  readonly agency: Agency | undefined;
  /** Undefined until the settings are read. */
  readonly needsMember: boolean | undefined;
  readonly defaultAgent: string | null;
  readonly onChange: (changed: Partial<Addressee>) => void;
}

/** As which member the person talks, and to which agent. */
export function AddresseeFields(props: AddresseeFieldsProps) {
  const { apiIntegrationId, agency, needsMember, defaultAgent, member, agent, onChange } = props;
  const entryPoints = agency?.entryPoints ?? [];
  const others = agent === undefined || entryPoints.includes(agent) ? [] : [agent];
  const first = defaultAgent ?? agency?.defaultAgent ?? null;
  const choices = [
    { value: '', label: first === null ? 'Default' : `Default (${first})` },
    ...[...entryPoints, ...others].map((name) => ({ value: name, label: name })),
  ];
  return (
    <div className="filters chat-address">
      <MemberField
        apiIntegrationId={apiIntegrationId}
        hint={needsMember === undefined ? '' : needsMember ? 'Needed for allowances.' : 'Optional.'}
        member={member}
        onChange={(value) => onChange({ member: value })}
      />
      <SelectField
        label="Entry point"
        name="agent"
        choices={choices}
        value={agent ?? ''}
        onChange={(value) => onChange({ agent: value === '' ? undefined : value })}
      />
    </div>
  );
}
