import { type AgencyFile, type AgentFile, MAX_AGENTS } from '@runwire/contract/schemas';
import { type AgencyDraft, type AgentDraft, NO_CODE } from './agency-draft.ts';
import { type AgencyFolder, FileRefused } from './agency-folder.ts';
import { checkAgencyShape, checkAgentShape } from './check-shape.ts';
import { type Faults, FILE_START, type Location, NO_POSITION, type Path } from './fault.ts';
import { NO_CONDITIONS } from './load-condition.ts';
import { NO_GUARDRAILS } from './load-guardrail.ts';
import { readMarkdownAgent } from './markdown-agent.ts';
import { readYaml } from './yaml-text.ts';

export const YAML_FILE = 'agency.yaml';
const AGENTS_FOLDER = 'agents';

/** Reads `agency.yaml` and the Markdown files of its agents. Throws `AgencyBroken` if their shape is wrong. */
export async function readYamlAgency(folder: AgencyFolder, faults: Faults): Promise<AgencyDraft> {
  const text = await readNamedFile(folder, YAML_FILE, faults);
  const yaml = text === null ? null : readYaml(YAML_FILE, text, faults);
  faults.throwIfAny();
  if (yaml === null || yaml.value === null) {
    faults.addAt(YAML_FILE, FILE_START, 'The file is empty; write at least `name` and `agents`.');
    faults.throwIfAny();
  }
  const { value, location } = yaml as { value: unknown; location: Location };
  checkAgencyShape(value, location, faults);
  // The Markdown files are checked even if other parts of `agency.yaml` are wrong.
  const listed = isRecord(value) && Array.isArray(value.agents) ? (value.agents as readonly unknown[]) : null;
  const agents =
    listed === null ? await allMarkdown(folder, value, faults) : await listedAgents(folder, listed, location, faults);
  faults.throwIfAny();
  if (agents.length === 0) {
    faults.add(location, [], 'The agency has no agents; write `agents`, or add Markdown files to the folder `agents`.');
    faults.throwIfAny();
  }
  const source = listed === null ? 'markdown' : 'yaml';
  const code = { models: new Map(), guardrails: NO_GUARDRAILS, conditions: NO_CONDITIONS };
  return { source, value: value as AgencyFile, location, agents, ...code };
}

/** All files of `agents/`, in byte order of their names. */
async function allMarkdown(folder: AgencyFolder, value: unknown, faults: Faults): Promise<AgentDraft[]> {
  // The shape's check has reported an `agents` that is no list.
  if (!isRecord(value) || value.agents !== undefined) return [];
  const names = (await folder.list(AGENTS_FOLDER)).filter((name) => name.endsWith('.md'));
  if (names.length > MAX_AGENTS) {
    const sentence = `The folder has ${names.length} Markdown files; keep at most ${MAX_AGENTS}.`;
    faults.addAt(AGENTS_FOLDER, NO_POSITION, sentence);
    return [];
  }
  const drafts: AgentDraft[] = [];
  for (const name of names) {
    const draft = await markdownDraft(folder, `${AGENTS_FOLDER}/${name}`, faults);
    if (draft !== null) drafts.push(draft);
  }
  return drafts;
}

async function listedAgents(folder: AgencyFolder, listed: readonly unknown[], location: Location, faults: Faults) {
  const drafts: AgentDraft[] = [];
  for (const [index, agent] of listed.entries()) {
    const path: Path = ['agents', index];
    if (typeof agent !== 'string') {
      drafts.push({ value: agent as AgentFile, location, path, code: NO_CODE });
      continue;
    }
    if (!agent.startsWith('./')) continue;
    if (!agent.endsWith('.md')) {
      faults.add(location, path, `\`${agent}\` is not a Markdown file; write the path of a file that ends in \`.md\`.`);
      continue;
    }
    const draft = await markdownDraft(folder, agent.slice(2), faults, { location, path });
    if (draft !== null) drafts.push(draft);
  }
  return drafts;
}

interface NamedAt {
  readonly location: Location;
  readonly path: Path;
}

async function markdownDraft(folder: AgencyFolder, file: string, faults: Faults, named?: NamedAt) {
  const text = await readNamedFile(folder, file, faults, named);
  const agent = text === null ? null : readMarkdownAgent(file, text, faults);
  if (agent === null || !checkAgentShape(agent.value, agent.location, [], faults)) return null;
  return { value: agent.value as AgentFile, location: agent.location, path: [], code: NO_CODE };
}

/** Returns null and adds a fault if the file cannot be read. `named` is where its name was written. */
async function readNamedFile(
  folder: AgencyFolder,
  file: string,
  faults: Faults,
  named?: NamedAt,
): Promise<string | null> {
  try {
    return await folder.read(file);
  } catch (error) {
    if (!(error instanceof FileRefused)) throw error;
    if (named === undefined) faults.addAt(file, FILE_START, error.message);
    else faults.add(named.location, named.path, error.message);
    return null;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
