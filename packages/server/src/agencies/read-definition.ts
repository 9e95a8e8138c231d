import type { ModelObject } from '@runwire/agency';
import type { AgencyFile, AgentFile } from '@runwire/contract/schemas';
import type { IsEnabled } from '../agent/ports.ts';
import type { AgencyDraft, AgentDraft, WrittenCode } from './agency-draft.ts';
import { checkAgencyShape } from './check-shape.ts';
import type { Faults, Location, Path } from './fault.ts';
import { loadCondition } from './load-condition.ts';
import { type GuardrailParts, loadGuardrail } from './load-guardrail.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Finds parts of a definition in its file's text. */
export interface DefinitionLocations {
  readonly agency: Location;
  readonly agent: (name: string) => Location;
}

/** Fields of `agency.yaml` that a definition cannot have. */
const ONLY_YAML: Readonly<Record<string, string>> = {
  env: 'is for `agency.yaml`: this code runs before it could be read; set the variable for the server instead.',
  toolFiles: 'is for `agency.yaml`; import the tools here, and name them in `tools` of their agents.',
};

/**
 * Converts a definition made by `defineAgency` to the shape of `agency.yaml`, and checks it. Functions, tools and schemas
 * are kept beside it. Throws `AgencyBroken`.
 */
export function readDefinition(
  given: unknown,
  source: AgencyDraft['source'],
  locations: DefinitionLocations,
  faults: Faults,
): AgencyDraft<WrittenCode> {
  if (!isFields(given)) {
    faults.add(locations.agency, [], 'There is no agency; write `export default defineAgency({ … })`.');
    faults.throwIfAny();
  }
  const fields = { ...withoutUndefined(given as Fields) };
  for (const field of ['sharedInstructions']) if (field in fields) fields[field] = toText(fields[field]);
  const models = nameModels(fields);
  const guardrails = new GuardrailNames(faults);
  guardrails.name(fields, locations.agency, ['guardrails']);
  for (const field of ['env', 'toolFiles']) {
    if (field in fields) faults.add(locations.agency, [field], `\`${field}\` ${ONLY_YAML[field]}`, 'key');
  }
  if ('defaultAgent' in fields) fields.defaultAgent = getName(fields.defaultAgent);
  if (Array.isArray(fields.entryPoints)) fields.entryPoints = fields.entryPoints.map(getName);
  const conditions = new Map<string, IsEnabled>();
  if (Array.isArray(fields.flows)) {
    fields.flows = fields.flows.map((flow, index) => {
      const at = { location: locations.agency, path: ['flows', index, 'isEnabled'] };
      return isFields(flow) ? getFlow(flow, conditions, () => faults.add(at.location, at.path, NO_FUNCTION)) : flow;
    });
  }
  const agents: AgentDraft<WrittenCode>[] = [];
  if (Array.isArray(fields.agents)) {
    for (const [index, agent] of (fields.agents as readonly unknown[]).entries()) {
      const name = isFields(agent) ? agent.name : undefined;
      const location = typeof name === 'string' ? locations.agent(name) : locations.agency;
      const { value, code } = getAgent(agent);
      if (isFields(value)) guardrails.name(value, location, ['agents', index, 'guardrails']);
      checkToolNames(agent, location, ['agents', index, 'tools'], faults);
      agents.push({ value: value as AgentFile, location, path: ['agents', index], code });
    }
    fields.agents = agents.map(({ value }) => value);
  } else if (!('agents' in fields))
    faults.add(locations.agency, [], 'The agency has no agents; write `agents: [ … ]`.');
  checkAgencyShape(fields, combined(locations.agency, agents), faults);
  faults.throwIfAny();
  return {
    source,
    value: fields as unknown as AgencyFile,
    location: locations.agency,
    agents,
    models,
    guardrails: guardrails.parts,
    conditions,
  };
}

const NO_FUNCTION = "A flow's `isEnabled` is not a function; make it one, or leave it out.";

/** Replaces guardrails by their names, and keeps the objects. */
class GuardrailNames {
  readonly #faults: Faults;
  readonly #given = new Map<string, object>();

  constructor(faults: Faults) {
    this.#faults = faults;
  }

  name(fields: Record<string, unknown>, location: Location, path: Path): void {
    if (!Array.isArray(fields.guardrails)) return;
    fields.guardrails = (fields.guardrails as readonly unknown[]).map((guardrail, index) => {
      if (!isFields(guardrail)) return guardrail;
      const name = typeof guardrail.name === 'string' ? guardrail.name : `item ${index + 1}`;
      const known = this.#given.get(name);
      if (known !== undefined && known !== guardrail)
        this.#faults.add(location, [...path, index], `Two guardrails are called \`${name}\`; rename one of them.`);
      this.#given.set(name, guardrail);
      return name;
    });
  }

  get parts(): GuardrailParts {
    return new Map([...this.#given].map(([name, given]) => [name, loadGuardrail(given)]));
  }
}

/** The position of a part of an agent is looked up near the agent. */
function combined(agency: Location, agents: readonly AgentDraft<WrittenCode>[]): Location {
  const findLocation = (path: readonly (string | number)[]) =>
    (path[0] === 'agents' && typeof path[1] === 'number' ? agents[path[1]]?.location : undefined) ?? agency;
  return {
    file: agency.file,
    position: (path, part) => findLocation(path).position(path, part),
    getPosition: (path, piece) => findLocation(path).getPosition(path, piece),
  };
}

function getAgent(given: unknown): { readonly value: unknown; readonly code: WrittenCode } {
  const tools = new Map<string, object>();
  if (!isFields(given)) return { value: given, code: { tools, models: new Map() } };
  const fields = { ...withoutUndefined(given) };
  const { instructions, output } = fields;
  const code: { -readonly [Field in keyof WrittenCode]: WrittenCode[Field] } = { tools, models: nameModels(fields) };
  if (typeof instructions === 'function') {
    code.instructions = instructions as NonNullable<WrittenCode['instructions']>;
    fields.instructions = 'A function.';
  } else fields.instructions = toText(instructions);
  if (fields.instructions === undefined) delete fields.instructions;
  if (isFileName(output)) fields.output = output.file;
  else if ((typeof output === 'object' && output !== null) || typeof output === 'function') {
    code.output = output;
    fields.output = {};
  }
  if (Array.isArray(fields.tools)) fields.tools = fields.tools.map((tool: unknown) => listedTool(tool, tools));
  else if (isFields(fields.tools)) {
    const named = Object.entries(fields.tools);
    for (const [name, tool] of named) if (typeof tool === 'object' && tool !== null) tools.set(name, tool);
    fields.tools = named.map(([name]) => name);
  }
  return { value: fields, code };
}

/** Replaces the models that are objects by their names, and returns the objects. */
function nameModels(fields: Record<string, unknown>): ReadonlyMap<string, ModelObject> {
  const models = new Map<string, ModelObject>();
  const named = (model: unknown) => {
    if (!isModelObject(model)) return model;
    const name = modelName(model);
    models.set(name, model);
    return name;
  };
  for (const field of ['model', 'summaryModel']) if (field in fields) fields[field] = named(fields[field]);
  if (Array.isArray(fields.fallback)) fields.fallback = fields.fallback.map(named);
  return models;
}

function isModelObject(value: unknown): value is ModelObject {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  const { provider, modelId, doStream } = value as Partial<ModelObject>;
  return typeof provider === 'string' && typeof modelId === 'string' && typeof doStream === 'function';
}

/** `provider/model`, as in settings and prices. A model's provider is also named by its interface: `google.chat`. */
function modelName({ provider, modelId }: ModelObject): string {
  const [first = ''] = provider.toLowerCase().split('.');
  const name = first.replaceAll(/[^a-z0-9-]/g, '-');
  return `${name === '' ? 'model' : name}/${modelId.replaceAll(/[^\x21-\x7e]/g, '-') || 'model'}`;
}

/** Returns the tool's name, or what was given if it is no tool. */
function listedTool(tool: unknown, tools: Map<string, object>): unknown {
  if (!isFields(tool)) return tool;
  const name = String(tool.name);
  tools.set(name, tool);
  return name;
}

/** Reports tools without a name. The check of the shape reports a name that is listed twice. */
function checkToolNames(agent: unknown, location: Location, path: Path, faults: Faults): void {
  if (!isFields(agent) || !Array.isArray(agent.tools)) return;
  for (const [index, tool] of (agent.tools as readonly unknown[]).entries()) {
    if (!isFields(tool) || typeof tool.name === 'string') continue;
    const remedy = 'give it one, or write the tools as an object with their names as keys';
    faults.add(location, [...path, index], `Item ${index + 1} of \`tools\` has no \`name\`; ${remedy}.`);
  }
}

/** Replaces agents by their names, and the flow's function by a name that is the same in each version of the agency. */
function getFlow(flow: Fields, conditions: Map<string, IsEnabled>, onNoFunction: () => void): unknown {
  const { isEnabled, ...fields } = withoutUndefined(flow);
  for (const field of ['from', 'to']) if (field in fields) fields[field] = getName(fields[field]);
  if (isEnabled === undefined) return fields;
  if (typeof isEnabled !== 'function') {
    onNoFunction();
    return fields;
  }
  const name = `${fields.from} ${fields.kind === 'handoff' ? '=>' : '->'} ${fields.to}`;
  // If a wildcard is written twice, the first flow counts.
  if (!conditions.has(name)) conditions.set(name, loadCondition(isEnabled as (about: object) => unknown, flow));
  return { ...fields, isEnabled: name };
}

/** Returns the name of an agent that is given by its name or as an object. */
function getName(agent: unknown): unknown {
  return isFields(agent) && typeof agent.name === 'string' ? agent.name : agent;
}

const toText = (text: unknown) => (isFileName(text) ? text.file : text);

function isFileName(value: unknown): value is { readonly file: string } {
  return isFields(value) && typeof value.file === 'string' && Object.keys(value).length === 1;
}

function withoutUndefined(fields: Fields): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
