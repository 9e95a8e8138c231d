import { Badge } from '../../ui/feedback.tsx';
import type { Agent } from './agency-words.ts';
import { Fact } from './fact.tsx';

interface AgentDetailsProps {
  readonly agent: Agent;
  readonly isEntryPoint: boolean;
  readonly isDefault: boolean;
}

export function AgentDetails({ agent, isEntryPoint, isDefault }: AgentDetailsProps) {
  const { name, description, model, fallback, sandbox, starters } = agent;
  return (
    <section className="card stack agent-details" aria-labelledby="agent">
      <div className="stack-tight">
        <h3 id="agent">
          <bdi>{name}</bdi>
        </h3>
        {isEntryPoint && (
          <div className="row">
            <Badge>entry point</Badge>
            {isDefault && <Badge>default</Badge>}
          </div>
        )}
        <p className="muted">{description ?? 'The agent has no description.'}</p>
      </div>
      <dl className="agency-facts">
        <Fact title="Model">
          {model === null ? 'The model of the integration or of the server' : <code>{model}</code>}
        </Fact>
        {fallback.length > 0 && (
          <Fact title="If it cannot answer, in this order">
            <ol>
              {fallback.map((item) => (
                <li key={item}>
                  <code>{item}</code>
                </li>
              ))}
            </ol>
          </Fact>
        )}
        <Fact title="Sandbox">{sandbox ? 'May run commands' : 'Runs no commands'}</Fact>
        {starters.length > 0 && (
          <Fact title="Starters">
            <ul>
              {starters.map((starter) => (
                <li key={starter}>
                  <bdi>{starter}</bdi>
                </li>
              ))}
            </ul>
          </Fact>
        )}
      </dl>
    </section>
  );
}
