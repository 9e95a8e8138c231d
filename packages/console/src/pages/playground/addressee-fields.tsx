import type { Agency } from '@runwire/client';
import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { api } from '../../app/api.ts';
import { SelectField } from '../../ui/form.tsx';
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
      {/* Another member in the address is another value of the field. */}
      <MemberField
        key={member ?? ''}
        apiIntegrationId={apiIntegrationId}
        isNeeded={needsMember}
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

interface MemberFieldProps {
  readonly apiIntegrationId: string;
  readonly isNeeded: boolean | undefined;
  readonly member: string | undefined;
  readonly onChange: (member: string | undefined) => void;
}

/** Suggests known members. Any id can be typed. */
function MemberField({ apiIntegrationId, isNeeded, member, onChange }: MemberFieldProps) {
  const id = useId();
  const [typed, setTyped] = useState(member ?? '');
  const q = typed.trim();
  const { data } = useQuery({
    queryKey: ['members', apiIntegrationId, 'suggested', q],
    queryFn: ({ signal }) =>
      api()
        .members.list({ apiIntegrationId, limit: 20, q: q || undefined }, { signal })
        .page(),
    placeholderData: (before) => before,
  });
  const commit = () => {
    const value = q === '' ? undefined : q;
    if (value !== member) onChange(value);
  };
  return (
    <div className="field">
      <label htmlFor={id}>Member</label>
      <input
        id={id}
        className="input"
        aria-describedby={`${id}-hint`}
        list={`${id}-members`}
        autoComplete="off"
        value={typed}
        maxLength={256}
        onChange={({ target }) => setTyped(target.value)}
        onBlur={commit}
        onKeyDown={({ key }) => {
          if (key === 'Enter') commit();
        }}
      />
      <datalist id={`${id}-members`}>
        {data?.items.map(({ consumerId, name }) => (
          <option key={consumerId} value={consumerId}>
            {name ?? ''}
          </option>
        ))}
      </datalist>
      <div id={`${id}-hint`} className="field-hint">
        {isNeeded === undefined ? <br /> : isNeeded ? 'Needed for allowances.' : 'Optional.'}
      </div>
    </div>
  );
}
