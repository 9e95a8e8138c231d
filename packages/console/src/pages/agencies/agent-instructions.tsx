import type { AgencyDefinition } from '@runwire/client';
import { CopyButton } from '../../ui/copy-button.tsx';
import { LongText } from '../../ui/long-text.tsx';
import { joinInstructions } from './agency-definition.ts';

interface AgentInstructionsProps {
  readonly definition: AgencyDefinition;
  readonly agent: AgencyDefinition['agents'][number];
}

/** The instructions that the model gets before each message. Placeholders are shown as they are written. */
export function AgentInstructions({ definition, agent }: AgentInstructionsProps) {
  const { sharedInstructions } = definition;
  const { instructions } = agent;
  const whole = joinInstructions(definition, agent);
  return (
    <section className="card stack" aria-labelledby="instructions">
      <div className="spread">
        <h3 id="instructions">Instructions</h3>
        {whole !== '' && <CopyButton text={whole} label="Copy instructions" />}
      </div>
      {sharedInstructions !== '' && (
        <div className="stack-tight">
          <h4>Of all agents</h4>
          <Text text={sharedInstructions} />
        </div>
      )}
      <div className="stack-tight">
        {sharedInstructions !== '' && <h4>Of this agent</h4>}
        {instructions === null ? (
          <p className="muted">
            A function of the agency writes them for each run. The prompt of a step shows the result.
          </p>
        ) : (
          <Text text={instructions} />
        )}
      </div>
    </section>
  );
}

const Text = ({ text }: { readonly text: string }) => (
  <div className="instructions">
    <LongText text={text} maxShown={4000} />
  </div>
);
