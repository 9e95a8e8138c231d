import type { CompatibleSettings } from '../../../accounts/compatible-settings.ts';
import { Refusal } from '../../../domain/refusal.ts';
import { askName } from '../../../domain/run/hand-off-name.ts';
import type { CompatibleDeps } from '../compatible-deps.ts';

/** The tool that asks one entry point of the agency. */
export interface AskTool {
  readonly name: string;
  readonly agent: string;
  readonly description: string;
}

const INPUT_SCHEMA = {
  type: 'object',
  properties: {
    message: { type: 'string', description: 'What the agent is asked, with everything that it must know.' },
    chat_id: {
      type: 'string',
      description: 'The `chat_id` of an earlier answer, to continue that chat. Without it a new chat begins.',
    },
    files: {
      type: 'array',
      items: { type: 'string' },
      description: 'Paths of uploaded files that the agent may read, such as `/app/mnt/report.pdf`.',
    },
  },
  required: ['message'],
  additionalProperties: false,
} as const;

const OUTPUT_SCHEMA = {
  type: 'object',
  properties: {
    run_id: { type: 'string' },
    chat_id: { type: 'string', description: 'Send it to continue the chat.' },
    status: { type: 'string', enum: ['completed', 'failed', 'cancelled'] },
    usage: { type: 'object' },
    pending: {
      type: 'array',
      items: { type: 'object' },
      description: 'Questions that wait for a person. The next message in the chat declines them.',
    },
    error: { type: ['object', 'null'], description: 'Why the run failed.' },
  },
  required: ['run_id', 'chat_id', 'status', 'usage', 'pending', 'error'],
} as const;

/** One tool per entry point of the integration's agency. Throws a refusal if the agency cannot be used. */
export function askTools({ agencies }: Pick<CompatibleDeps, 'agencies'>, { agency }: CompatibleSettings): AskTool[] {
  const loaded = agencies.find(agency)?.loaded ?? null;
  if (loaded === null) throw new Refusal('agency_unavailable');
  return loaded.entryPoints.map((agent) => {
    const { description } = loaded.agents.get(agent) ?? { description: '' };
    const about = description.trim() === '' ? '' : ` ${description.trim()}`;
    // The names differ: an agency whose hand-offs would have equal names is refused.
    return { name: askName(agent), agent, description: `Asks the agent ${agent} of ${loaded.name}.${about}` };
  });
}

/** The tool as `tools/list` shows it. */
export const shownTool = ({ name, agent, description }: AskTool) => ({
  name,
  title: agent,
  description,
  inputSchema: INPUT_SCHEMA,
  outputSchema: OUTPUT_SCHEMA,
});
