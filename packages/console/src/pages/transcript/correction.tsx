import type { Question } from '@runwire/client';
import { linearCheck } from '@runwire/lib/linear-check.ts';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useId, useMemo, useState } from 'react';
import { api } from '../../app/api.ts';
import { formatJson } from '../../lib/format.ts';
import { parseJsonObject } from '../../lib/json-object.ts';
import { shorten } from '../../lib/shorten.ts';
import { Prose } from '../../ui/prose.tsx';
import { LongCode } from './parts.tsx';

/** A call whose arguments may be changed. */
export type EditableCall = Pick<Question, 'questionId' | 'agent' | 'tool' | 'arguments' | 'editable'>;

const MAX_ROWS = 16;
const SCHEMA_KEPT_MS = 60_000;

/** The schema of the tool's arguments. Null if this person may not read it, or if it is not known: the server checks them. */
const schemaQuery = (apiIntegrationId: string, { agent, tool }: EditableCall) =>
  queryOptions({
    queryKey: ['tool-schema', apiIntegrationId, agent, tool],
    queryFn: async ({ signal }) => {
      try {
        const { agency } = await api().integrations.get({ apiIntegrationId }, { signal });
        const { agents } = await api().agencies.definition({ agency }, { signal });
        const found = agents.find(({ name }) => name === agent)?.tools.find(({ name }) => name === tool);
        return found?.inputSchema ?? null;
      } catch {
        return null;
      }
    },
    staleTime: SCHEMA_KEPT_MS,
  });

interface CallArgumentsProps {
  readonly integration: string;
  readonly call: EditableCall;
  /** The name of the field. */
  readonly name: string;
}

/** The arguments of a call, and the field that changes them if the tool allows it. */
export function CallArguments({ integration, call, name }: CallArgumentsProps) {
  const [isOpen, setOpen] = useState(false);
  const tool = shorten(call.tool, 100);
  return (
    <>
      {isOpen ? (
        <ArgumentsField integration={integration} call={call} name={name} />
      ) : (
        <LongCode code={formatJson(call.arguments)} label={`arguments of ${tool}`} />
      )}
      {call.editable && (
        <div>
          <button type="button" className="button button-small" onClick={() => setOpen(!isOpen)}>
            {isOpen ? 'Keep the arguments' : 'Correct'}
          </button>
        </div>
      )}
    </>
  );
}

function ArgumentsField({ integration, call, name }: CallArgumentsProps) {
  const id = useId();
  const [text, setText] = useState(() => formatJson(call.arguments));
  const { data: schema = null } = useQuery(schemaQuery(integration, call));
  const check = useMemo(() => (schema === null ? null : linearCheck(schema)), [schema]);
  const problem = findProblem(text, check);
  return (
    <div className="field">
      <label htmlFor={id}>Corrected arguments</label>
      <textarea
        id={id}
        name={name}
        className="input input-code"
        aria-describedby={`${id}-hint`}
        aria-invalid={problem !== null}
        rows={Math.min(MAX_ROWS, text.split('\n').length + 1)}
        spellCheck={false}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <div id={`${id}-hint`} className={problem === null ? 'field-hint' : 'field-hint field-problem'}>
        {problem === null ? 'JSON. An approved call is made with these arguments.' : <Prose text={problem} />}
      </div>
    </div>
  );
}

function findProblem(text: string, check: ReturnType<typeof linearCheck> | null): string | null {
  const value = parseJsonObject(text);
  if (value === null) return 'This is not a JSON object.';
  const checked = check?.(value);
  return checked !== undefined && 'problem' in checked ? `The tool does not accept this: ${checked.problem}.` : null;
}

/** The arguments in the field. Undefined if the field is closed or its text is what the model wrote. */
export function changedArguments(call: EditableCall, text: string): Record<string, unknown> | undefined {
  const changed = text === '' ? null : parseJsonObject(text);
  if (changed === null || JSON.stringify(changed) === JSON.stringify(call.arguments)) return undefined;
  return changed;
}
