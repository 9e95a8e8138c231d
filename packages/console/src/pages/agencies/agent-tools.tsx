import type { AgencyDefinition } from '@runwire/client';
import { formatCount, formatJson } from '../../lib/format.ts';
import { Badge } from '../../ui/feedback.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { LongText } from '../../ui/long-text.tsx';

interface AgentToolsProps {
  readonly agent: AgencyDefinition['agents'][number];
  /** The names of those whose calls a person must approve. */
  readonly approval: readonly string[];
  /** Whose arguments an approval may change. */
  readonly editable: readonly string[];
  /** Which an approval may allow for a chat. */
  readonly remember: readonly string[];
  /** Which a function can hide in a step. */
  readonly conditional: readonly string[];
}

/** What the model can call: each tool with its description, and its arguments when it is opened. */
export function AgentTools({ agent: { tools, output }, approval, editable, remember, conditional }: AgentToolsProps) {
  return (
    <section className="card stack" aria-labelledby="tools">
      <h3 id="tools">Tools</h3>
      {tools.length === 0 && <p className="muted">The agent has no tools.</p>}
      <ul className="agent-tools">
        {tools.map(({ name, description, inputSchema, server }) => (
          <li key={name}>
            <details>
              <summary>
                <code>
                  <bdi>{name}</bdi>
                </code>
                {server !== null && <Badge>{server}</Badge>}
                {approval.includes(name) && <Badge tone="warn">asks for approval</Badge>}
                {editable.includes(name) && <Badge>can be corrected</Badge>}
                {conditional.includes(name) && <Badge>conditional</Badge>}
                {remember.includes(name) && <Badge>can be allowed in a chat</Badge>}
                <span className="muted small">{formatCount(countArguments(inputSchema), 'argument')}</span>
              </summary>
              <JsonView text={formatJson(inputSchema)} label={`arguments of ${name}`} />
            </details>
            {description !== '' && (
              <div className="muted">
                <LongText text={description} maxShown={600} />
              </div>
            )}
          </li>
        ))}
      </ul>
      {output !== null && (
        <div className="stack-tight">
          <h4>Schema of the answer</h4>
          <JsonView text={formatJson(output)} label="schema of the answer" />
        </div>
      )}
    </section>
  );
}

const countArguments = ({ properties }: { readonly properties?: unknown }): number =>
  typeof properties === 'object' && properties !== null ? Object.keys(properties).length : 0;
