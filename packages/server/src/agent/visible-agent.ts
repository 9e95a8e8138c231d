import { LruCache } from '@runwire/lib/lru-cache.ts';
import { type HiddenPart, hiddenTools } from '../domain/run/hidden-part.ts';
import { flowTools, SEND_MESSAGE } from './flow-tools.ts';
import type { ModelTool } from './ports.ts';
import type { Flow, TeamAgent } from './team.ts';

/**
 * Returns the agent as its model sees it in a step. What is hidden does not exist there: a call of it is a call of an unknown
 * tool. `hidden` is absent if the model sees everything.
 */
export function visibleAgent(agent: TeamAgent, hidden: readonly HiddenPart[] | undefined): TeamAgent {
  if (hidden === undefined) return agent;
  const names = hiddenTools(hidden);
  const isShown = ({ name }: { readonly name: string }) => !names.has(name);
  const flows = agent.flows.filter(({ kind, to }) => !hidden.some((one) => one.kind === kind && one.name === to));
  const modelTools = visibleTools(agent, hidden, flows);
  const choice = agent.settings?.toolChoice;
  const isChoiceGone = agent.modelTools.some(({ name }) => name === choice) && !modelTools.some(isNamed(choice));
  return {
    ...agent,
    flows,
    handOffs: new Set([...agent.handOffs].filter((name) => !names.has(name))),
    modelTools,
    // Providers refuse the choice of a tool that they do not get.
    settings: isChoiceGone ? { ...agent.settings, toolChoice: 'auto' } : agent.settings,
    // The tools of the run are made when a call needs them.
    get tools() {
      return agent.tools.filter(isShown);
    },
  };
}

/** True if the tool is hidden. `agent` is what the model saw. */
export function isHidden(
  { flows }: Pick<TeamAgent, 'flows'>,
  hidden: readonly HiddenPart[] | undefined,
  tool: string,
): boolean {
  if (hidden === undefined) return false;
  const isDelegate = ({ kind }: { readonly kind: HiddenPart['kind'] }) => kind === 'delegate';
  if (tool === SEND_MESSAGE) return hidden.some(isDelegate) && !flows.some(isDelegate);
  return hiddenTools(hidden).has(tool);
}

const isNamed =
  (wanted: string | undefined) =>
  ({ name }: ModelTool): boolean =>
    name === wanted;

/** What is hidden changes seldom. */
const MAX_VARIANTS = 16;

/** Adapters write a list as JSON once, so the same parts of a list are one list in all steps and runs. */
const variants = new WeakMap<readonly ModelTool[], LruCache<string, readonly ModelTool[]>>();

function visibleTools(
  { modelTools, flows }: TeamAgent,
  hidden: readonly HiddenPart[],
  shownFlows: readonly Flow[],
): readonly ModelTool[] {
  let known = variants.get(modelTools);
  if (known === undefined) {
    known = new LruCache(MAX_VARIANTS);
    variants.set(modelTools, known);
  }
  const key = JSON.stringify(hidden);
  let tools = known.get(key);
  if (tools === undefined) {
    const names = hiddenTools(hidden);
    const all = new Set(flowTools(flows).map(({ name }) => name));
    const shown = new Map(flowTools(shownFlows).map((tool) => [tool.name, tool]));
    tools = modelTools.flatMap((tool) => {
      if (all.has(tool.name)) return shown.get(tool.name) ?? [];
      return names.has(tool.name) ? [] : [tool];
    });
    known.set(key, tools);
  }
  return tools;
}
