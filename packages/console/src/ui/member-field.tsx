import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { api } from '../app/api.ts';

interface MemberFieldProps {
  readonly apiIntegrationId: string;
  /** The id of the chosen member. */
  readonly member: string | undefined;
  readonly hint?: string;
  readonly onChange: (member: string | undefined) => void;
}

const MAX_SUGGESTIONS = 20;

/** Suggests known members by the start of their ids and of the words of their names. Any id can be typed. */
export const MemberField = (props: MemberFieldProps) => (
  // Another chosen member is another text of the field.
  <TypedMember key={props.member ?? ''} {...props} />
);

function TypedMember({ apiIntegrationId, member, hint, onChange }: MemberFieldProps) {
  const id = useId();
  const [typed, setTyped] = useState(member ?? '');
  const q = typed.trim();
  const { data } = useQuery({
    queryKey: ['members', apiIntegrationId, 'suggested', q],
    queryFn: ({ signal }) =>
      api()
        .members.list({ apiIntegrationId, limit: MAX_SUGGESTIONS, q: q || undefined }, { signal })
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
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
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
      {hint !== undefined && (
        <div id={`${id}-hint`} className="field-hint">
          {hint === '' ? <br /> : hint}
        </div>
      )}
    </div>
  );
}
