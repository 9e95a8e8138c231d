import type { AgencyDefinition } from '@runwire/client';

interface AgentGuardrailsProps {
  readonly definition: AgencyDefinition;
  readonly agent: AgencyDefinition['agents'][number];
}

const CHECKED = {
  input: 'the message',
  output: 'the answer',
  toolCall: 'calls',
  toolResult: 'results',
} as const;

/** The functions that check what the agent gets, writes and does, in their order. */
export function AgentGuardrails({ definition, agent }: AgentGuardrailsProps) {
  const all = [
    ...definition.guardrails.map((guardrail) => ({ ...guardrail, from: 'the agency' })),
    ...agent.guardrails.map((guardrail) => ({ ...guardrail, from: 'this agent' })),
  ];
  if (all.length === 0) return null;
  return (
    <section className="card stack" aria-labelledby="guardrails">
      <h3 id="guardrails">Guardrails</h3>
      <ol className="stack-tight">
        {all.map(({ name, on, from }) => (
          <li key={name}>
            <code>
              <bdi>{name}</bdi>
            </code>{' '}
            <span className="muted">
              checks {CHECKED[on]}; from {from}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
