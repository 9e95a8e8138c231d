import type { AgencyDefinition, AgentDefinition } from '@runwire/agency';
import { FILE_TOOLS } from '../agent/files-port.ts';
import type { Tool } from '../agent/ports.ts';
import { checkReasoning } from './check-reasoning.ts';
import { loadTools } from './load-tools.ts';

export interface LoadedAgent {
  readonly definition: AgentDefinition;
  /** `provider/model`. The default model of the installation if the agency sets none. */
  readonly model: string;
  /** The agent's own tools. */
  readonly tools: readonly Tool[];
  /** True if runs of the agent also have the file tools. */
  readonly files: boolean;
  /** The ways from this agent to others. */
  readonly flows: readonly LoadedFlow[];
}

export interface LoadedFlow {
  readonly to: string;
  readonly kind: 'delegate' | 'handoff';
  readonly memory: 'chat' | 'none';
}

export interface LoadedAgency {
  readonly id: string;
  readonly definition: AgencyDefinition;
  readonly agents: ReadonlyMap<string, LoadedAgent>;
  readonly entryPoints: readonly string[];
  readonly defaultAgent: string;
}

/** The agencies of this installation, checked when they are loaded. */
export class Agencies {
  readonly #agencies: ReadonlyMap<string, LoadedAgency>;

  private constructor(agencies: ReadonlyMap<string, LoadedAgency>) {
    this.#agencies = agencies;
  }

  static async load(definitions: Readonly<Record<string, AgencyDefinition>>, defaultModel: string): Promise<Agencies> {
    const loaded = new Map<string, LoadedAgency>();
    for (const [id, definition] of Object.entries(definitions)) {
      loaded.set(id, await load(id, definition, defaultModel));
    }
    return new Agencies(loaded);
  }

  entryPoints(agency: string): readonly string[] | null {
    return this.#agencies.get(agency)?.entryPoints ?? null;
  }

  defaultAgent(agency: string): string | null {
    return this.#agencies.get(agency)?.defaultAgent ?? null;
  }

  agent(agency: string, name: string): LoadedAgent | null {
    return this.#agencies.get(agency)?.agents.get(name) ?? null;
  }

  /** Returns the models of its agents, or none if the agency does not exist. */
  models(agency: string): readonly string[] {
    return [...new Set([...(this.#agencies.get(agency)?.agents.values() ?? [])].map(({ model }) => model))];
  }

  list(): readonly LoadedAgency[] {
    return [...this.#agencies.values()];
  }
}

/** Returns the names of all tools that the agent's model may call. */
export function toolNames({ tools, files }: LoadedAgent): readonly string[] {
  return [...tools.map(({ name }) => name), ...(files ? FILE_TOOLS : [])];
}

async function load(id: string, definition: AgencyDefinition, defaultModel: string): Promise<LoadedAgency> {
  const agents = new Map<string, LoadedAgent>();
  for (const agent of definition.agents) {
    if (agents.has(agent.name)) throw new Error(`Agency \`${id}\` has two agents called \`${agent.name}\`.`);
    checkReasoning(id, agent);
    agents.set(agent.name, {
      definition: agent,
      model: agent.model ?? defaultModel,
      tools: await loadTools(id, agent),
      files: agent.files ?? true,
      flows: (definition.flows ?? []).flatMap(({ from, to, kind = 'delegate', memory = 'chat' }) =>
        from === agent.name ? [{ to, kind, memory }] : [],
      ),
    });
  }
  const entryPoints = definition.entryPoints ?? [...agents.keys()];
  for (const name of entryPoints) {
    if (!agents.has(name))
      throw new Error(`Agency \`${id}\` has an entry point \`${name}\` that is not one of its agents.`);
  }
  const defaultAgent = definition.defaultAgent ?? entryPoints[0];
  if (defaultAgent === undefined || !entryPoints.includes(defaultAgent)) {
    throw new Error(`Agency \`${id}\` has a default agent that is not one of its entry points.`);
  }
  return { id, definition, agents, entryPoints, defaultAgent };
}
