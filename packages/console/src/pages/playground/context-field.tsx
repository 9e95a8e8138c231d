import { describeError } from '../../app/errors.ts';
import { Prose } from '../../ui/prose.tsx';
import { addVariable, readContext } from './user-context.ts';

interface ContextFieldProps {
  readonly text: string;
  /** The names that the instructions use. */
  readonly variables: readonly string[];
  readonly onChange: (text: string) => void;
}

/** `user_context` as JSON, with the names that the instructions of the agent use. */
export function ContextField({ text, variables, onChange }: ContextFieldProps) {
  const problem = findProblem(text);
  return (
    <div className="field">
      <label htmlFor="user-context">
        <code>user_context</code>
      </label>
      <textarea
        id="user-context"
        className="input input-code context-field"
        aria-describedby="user-context-hint"
        aria-invalid={problem !== null}
        rows={3}
        spellCheck={false}
        placeholder='{ "plan": "pro" }'
        value={text}
        onChange={({ target }) => onChange(target.value)}
      />
      <div id="user-context-hint" className={problem === null ? 'field-hint' : 'field-hint field-problem'}>
        {problem === null ? 'JSON for tools and instructions. It is sent with each message.' : <Prose text={problem} />}
      </div>
      {variables.length > 0 && (
        <div className="row small">
          <span className="muted">The instructions use:</span>
          {variables.map((name) => (
            <button
              key={name}
              type="button"
              className="button button-small"
              aria-label={`Add ${name} to user_context`}
              onClick={() => onChange(addVariable(text, name))}
            >
              <code>{name}</code>
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

function findProblem(text: string): string | null {
  try {
    readContext(text);
    return null;
  } catch (error) {
    return describeError(error).message;
  }
}
