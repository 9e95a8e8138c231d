import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const folder = fileURLToPath(new URL('../data/portable/', import.meta.url));

/** A project in the shape of another framework's starter, as it was, or with the changes that Runwire needs. */
export const starterFolder = (which: 'original' | 'ported', name: string) => join(folder, which, name);

const read = (name: string, file: string) => readFileSync(join(starterFolder('original', name), file), 'utf8');

export interface StarterFlow {
  readonly from: string;
  readonly to: string;
  readonly kind: 'delegate' | 'handoff';
}

export interface Starter {
  readonly name: string;
  readonly entry: string;
  /** What each agent's model must read, from the original's files. */
  readonly prompts: Readonly<Record<string, string>>;
  readonly flows: readonly StarterFlow[];
  /** A tool of the original, with what its code returns for an input. */
  readonly tool: {
    readonly agent: string;
    readonly name: string;
    readonly input: object;
    readonly output: string;
  } | null;
  /** The inputs of the original's run. */
  readonly context: Readonly<Record<string, string>>;
}

const getFlows = (kind: StarterFlow['kind'], ...pairs: readonly (readonly [string, string])[]) =>
  pairs.map(([from, to]): StarterFlow => ({ from, to, kind }));

function agencySwarm(): Starter {
  const name = 'agency-swarm';
  const prompt = (agent: string) =>
    `${read(name, 'shared_instructions.md')}\n${read(name, `${agent}/instructions.md`)}`;
  return {
    name,
    entry: 'ExampleAgent',
    prompts: { ExampleAgent: prompt('example_agent'), ExampleAgent2: prompt('example_agent2') },
    flows: getFlows('delegate', ['ExampleAgent', 'ExampleAgent2']),
    tool: {
      agent: 'ExampleAgent',
      name: 'ExampleTool',
      input: { title: 'Moby-Dick' },
      output: '1 copies of Moby-Dick',
    },
    context: {},
  };
}

function crewAi(): Starter {
  const name = 'crewai';
  const topic = 'tidal power';
  const agents = parse(read(name, 'src/newsroom/config/agents.yaml'));
  const tasks = parse(read(name, 'src/newsroom/config/tasks.yaml'));
  const prompt = (agent: string, task: string) => {
    const { role, goal, backstory } = agents[agent];
    const { description, expected_output } = tasks[task];
    return [role, goal, backstory, description, expected_output].join(' ').replaceAll('{topic}', topic);
  };
  return {
    name,
    entry: 'researcher',
    prompts: {
      researcher: prompt('researcher', 'research_task'),
      reporting_analyst: prompt('reporting_analyst', 'reporting_task'),
    },
    flows: getFlows('handoff', ['researcher', 'reporting_analyst']),
    tool: null,
    context: { topic },
  };
}

/** The texts that follow `field` in a program, by the `name` before or after them in the same call. */
function promptsIn(text: string, field: string): Record<string, string> {
  const prompts: Record<string, string> = {};
  for (const call of text.split(/^(?:const )?\w+ = (?:defineAgent|new Agent|Agent\.create|Agent)\(/m).slice(1)) {
    const name = /\bname[=:] ?['"](.+?)['"]/.exec(call)?.[1] ?? '';
    const written = call.slice(call.indexOf(field) + field.length);
    const [value = ''] = /^[=:\s(]*((?:'[^'\n]*'|"[^"\n]*")\s*)+/.exec(written) ?? [];
    prompts[name] = [...value.matchAll(/'([^'\n]*)'|"([^"\n]*)"/g)].map(([, a, b]) => a ?? b).join('');
  }
  return prompts;
}

function googleAdk(): Starter {
  const pairs = ['root_agent', 'ticket_agent', 'complaint_agent'].flatMap((from, _, all) =>
    all.filter((to) => to !== from).map((to) => [from, to] as const),
  );
  return {
    name: 'google-adk',
    entry: 'root_agent',
    prompts: promptsIn(read('google-adk', 'agent.py'), 'instruction'),
    flows: getFlows('handoff', ...pairs),
    tool: { agent: 'root_agent', name: 'get_ferry_times', input: { island: 'Hydra' }, output: '["09:15","16:00"]' },
    context: {},
  };
}

function claude(): Starter {
  const agents = ['code-reviewer', 'data-scientist', 'debugger', 'researcher'];
  const body = (agent: string) => read('claude', `.claude/agents/${agent}.md`).replace(/^---\n[\s\S]*?\n---\n/, '');
  return {
    name: 'claude',
    entry: 'lead',
    prompts: {
      ...Object.fromEntries(agents.map((agent) => [agent, body(agent)])),
      // In the original, Claude itself asks the agents.
      lead: 'Ask the agent that fits the task, and answer with what it found.',
    },
    flows: getFlows('delegate', ...agents.map((agent) => ['lead', agent] as const)),
    tool: null,
    context: {},
  };
}

function openAiAgents(): Starter {
  const [entry, cook, gardener] = ['Triage Agent', 'Cook', 'Gardener'] as const;
  return {
    name: 'openai-agents',
    entry,
    prompts: promptsIn(read('openai-agents', 'index.ts'), 'instructions'),
    flows: getFlows('handoff', [entry, cook], [entry, gardener]),
    tool: { agent: cook, name: 'recipe_of_the_day', input: { season: 'summer' }, output: 'Cold tomato soup' },
    context: {},
  };
}

export const STARTERS: readonly Starter[] = [agencySwarm(), crewAi(), googleAdk(), claude(), openAiAgents()];
