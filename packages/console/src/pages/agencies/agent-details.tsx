import { Badge } from '../../ui/feedback.tsx';
import type { Agent } from './agency-words.ts';

interface AgentDetailsProps {
  readonly agent: Agent;
  readonly isEntryPoint: boolean;
  readonly isDefault: boolean;
}

export function AgentDetails({ agent, isEntryPoint, isDefault }: AgentDetailsProps) {
  const { name, description, model, fallback, tools, approval, sandbox, starters } = agent;
  return (
    <section className="card stack agent-details" aria-labelledby="agent">
      <div className="stack-tight">
        <h2 id="agent">
          <bdi>{name}</bdi>
        </h2>
        {isEntryPoint && (
          <div className="row">
            <Badge>entry point</Badge>
            {isDefault && <Badge>default</Badge>}
          </div>
        )}
        <p className="muted">{description ?? 'The agent has no description.'}</p>
      </div>
      <dl className="agent-facts">
        <dt>Model</dt>
        <dd>{model === null ? 'The model of the integration or of the server' : <code>{model}</code>}</dd>
        {fallback.length > 0 && (
          <>
            <dt>If it cannot answer</dt>
            <dd>
              <ol>
                {fallback.map((item) => (
                  <li key={item}>
                    <code>{item}</code>
                  </li>
                ))}
              </ol>
            </dd>
          </>
        )}
        <dt>Tools</dt>
        <dd>
          {tools.length === 0 ? (
            'None'
          ) : (
            <ul>
              {tools.map((tool) => (
                <li key={tool}>
                  <code>{tool}</code> {approval.includes(tool) && <Badge tone="warn">asks for approval</Badge>}
                </li>
              ))}
            </ul>
          )}
        </dd>
        <dt>Sandbox</dt>
        <dd>{sandbox ? 'May run commands' : 'Runs no commands'}</dd>
        {starters.length > 0 && (
          <>
            <dt>Starters</dt>
            <dd>
              <ul>
                {starters.map((starter) => (
                  <li key={starter}>
                    <bdi>{starter}</bdi>
                  </li>
                ))}
              </ul>
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}
