import { createHash } from 'node:crypto';
import type { AgencyDefinition, ModelObject } from '@runwire/agency';
import { compileJsonSchema } from '@runwire/lib/json-schema.ts';
import { StartRefused } from '../domain/start-refused.ts';
import type { AgencyDraft } from './agency-draft.ts';
import { AgencyFolder } from './agency-folder.ts';
import { AgencyBroken, Faults, NO_POSITION } from './fault.ts';
import { type AgencySetting, loadAgency } from './load-agency.ts';
import { type CodeLocation, loadCode } from './load-code.ts';
import { NO_CONDITIONS } from './load-condition.ts';
import { NO_GUARDRAILS } from './load-guardrail.ts';
import { type FileTools, loadToolFiles } from './load-tool-files.ts';
import type { LoadedAgency } from './loaded-agency.ts';
import { prepareCode } from './prepare-code.ts';
import type { AgencyProcesses } from './process/agency-processes.ts';
import type { DescribedAgency } from './process/messages.ts';
import { remoteAgent, remoteCondition, remoteGuardrail, remoteModels } from './process/remote-code.ts';
import { readDefinition } from './read-definition.ts';
import { sourceLocations, TYPESCRIPT_FILE } from './read-typescript-agency.ts';
import { readYamlAgency, YAML_FILE } from './read-yaml-agency.ts';
import { noLocation } from './source-location.ts';

const ID = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const RESERVED_ID = 'demo';
const VERSION_CHARACTERS = 16;

export interface FolderSetting extends AgencySetting {
  /** Run the agency code. */
  readonly processes: AgencyProcesses;
  /** Called if an agency's code must be loaded again. */
  readonly onChanged?: (id: string) => void;
}

/** Loads the agency in a folder. Throws `AgencyBroken`. The caller ends its code. */
export async function loadFolder(path: string, id: string, setting: FolderSetting): Promise<LoadedAgency> {
  const faults = new Faults();
  const folder = await AgencyFolder.open(path);
  checkId(id, faults);
  const form = await getForm(folder, faults);
  faults.throwIfAny();
  const { processes, onChanged = () => {} } = setting;
  const location = { processes, agency: id, folder, onChanged: () => onChanged(id) };
  const { draft, code, tools, guardrails, conditions } = await (form === TYPESCRIPT_FILE
    ? loadTypeScriptAgency(location, faults)
    : loadYamlAgency(location, setting, faults));
  try {
    const parts = { id, folder, fileTools: tools, fileGuardrails: guardrails, fileConditions: conditions };
    const agency = await loadAgency(draft, parts, setting, faults);
    return { ...agency, code, version: folder.hash.slice(0, VERSION_CHARACTERS), loadedAt: Date.now() };
  } catch (error) {
    code?.end();
    throw error;
  }
}

interface DraftWithCode extends FileTools {
  readonly draft: AgencyDraft;
}

async function loadYamlAgency(
  location: Omit<CodeLocation, 'env'>,
  { variable }: FolderSetting,
  faults: Faults,
): Promise<DraftWithCode> {
  const draft = await readYamlAgency(location.folder, faults);
  return { draft, ...(await loadToolFiles(draft, location, variable, faults)) };
}

/** The whole of `agency.ts` is code, so its process reads the definition. */
async function loadTypeScriptAgency(location: Omit<CodeLocation, 'env'>, faults: Faults): Promise<DraftWithCode> {
  const { folder } = location;
  const { code, answer } = await loadCode({ ...location, env: {} }, { kind: 'agency', file: TYPESCRIPT_FILE }, faults);
  const { value, agents, models, guardrails, conditions } = answer.agency as DescribedAgency;
  const locations = sourceLocations(TYPESCRIPT_FILE, await folder.read(TYPESCRIPT_FILE));
  const draft: AgencyDraft = {
    source: 'typescript',
    value,
    location: locations.agency,
    agents: agents.map((agent, index) => ({
      value: agent.value,
      location: locations.agent(agent.value.name),
      path: ['agents', index],
      code: remoteAgent(code, agent),
    })),
    models: remoteModels(code, models),
    guardrails: new Map(guardrails.map(([name, described]) => [name, remoteGuardrail(code, described)])),
    conditions: new Map(conditions.map(([name, described]) => [name, remoteCondition(code, described)])),
  };
  return { draft, code, tools: new Map(), guardrails: NO_GUARDRAILS, conditions: NO_CONDITIONS };
}

/** Loads a definition of this process. Throws `StartRefused` with one sentence: the program itself is wrong. */
export async function loadDefinition(
  id: string,
  given: AgencyDefinition,
  setting: AgencySetting,
): Promise<LoadedAgency> {
  const faults = new Faults();
  try {
    // The program that starts the server also provides the models.
    const { models } = setting;
    const anyModel = {
      ...setting,
      models: {
        problem: () => null,
        searchesWeb: () => true,
        defaultId: models.defaultId,
        fromObject: (name: string, object: ModelObject) => models.fromObject(name, object),
      },
    };
    const locations = {
      agency: noLocation(`agency \`${id}\``),
      agent: (name: string) => noLocation(`agent \`${name}\` of agency \`${id}\``),
    };
    const draft = await prepareCode(readDefinition(given, 'bundled', locations, faults), compileJsonSchema);
    const noFiles = { fileTools: new Map(), fileGuardrails: NO_GUARDRAILS, fileConditions: NO_CONDITIONS };
    const parts = { id, folder: null, ...noFiles };
    const agency = await loadAgency(draft, parts, anyModel, faults);
    const hash = createHash('sha256').update(JSON.stringify(draft.value)).digest('hex');
    return { ...agency, code: null, version: hash.slice(0, VERSION_CHARACTERS), loadedAt: Date.now() };
  } catch (error) {
    if (!(error instanceof AgencyBroken)) throw error;
    const { file = '', message = '' } = error.faults[0] ?? {};
    throw new StartRefused(message.includes(`agency \`${id}\``) ? message : `In ${file}: ${message}`);
  }
}

function checkId(id: string, faults: Faults): void {
  if (id === RESERVED_ID) faults.addAt('.', NO_POSITION, '`demo` is the bundled agency; give the folder another name.');
  else if (!ID.test(id)) {
    const rule = 'use 1 to 64 lower-case letters, digits, `_` and `-`, and begin with a letter or a digit';
    faults.addAt('.', NO_POSITION, `The folder's name \`${id}\` cannot be the id of an agency; ${rule}.`);
  }
}

/** Files that people write by mistake. */
const OTHER_FILES: Readonly<Record<string, string>> = {
  'agency.yml': YAML_FILE,
  'agency.json': YAML_FILE,
  'agency.js': TYPESCRIPT_FILE,
  'agency.mjs': TYPESCRIPT_FILE,
  'agency.tsx': TYPESCRIPT_FILE,
};

/** Files of other frameworks, and the page that explains how to port them. */
const PORTED_FROM: Readonly<Record<string, string>> = {
  'agency.py': 'docs/from-agency-swarm.md',
  'agent.py': 'docs/from-google-adk.md',
  'root_agent.yaml': 'docs/from-google-adk.md',
  '.claude': 'docs/from-claude-agents.md',
  'crew.py': 'docs/from-crewai.md',
};

async function getForm(folder: AgencyFolder, faults: Faults): Promise<string | null> {
  const names = await folder.list('.');
  const found = [YAML_FILE, TYPESCRIPT_FILE].filter((name) => names.includes(name));
  if (found.length === 2) {
    faults.addAt(YAML_FILE, NO_POSITION, `The folder also has \`${TYPESCRIPT_FILE}\`; keep one of the two.`);
  }
  if (found.length > 0) return found[0] ?? null;
  const other = names.find((name) => Object.hasOwn(OTHER_FILES, name));
  const foreign = names.find((name) => Object.hasOwn(PORTED_FROM, name));
  const added = foreign === undefined ? '' : `, as ${PORTED_FROM[foreign]} shows for \`${foreign}\``;
  const advice =
    other === undefined
      ? `add \`${YAML_FILE}\` or \`${TYPESCRIPT_FILE}\`${added}`
      : `rename \`${other}\` to \`${OTHER_FILES[other]}\``;
  faults.addAt('.', NO_POSITION, `The folder has no \`${YAML_FILE}\`; ${advice}.`);
  return null;
}
