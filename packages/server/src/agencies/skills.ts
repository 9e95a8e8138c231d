import { AGENCY } from '../domain/file/agency-path.ts';
import { filenameProblem } from '../domain/file/mount-path.ts';
import type { AgentDraft } from './agency-draft.ts';
import { type AgencyFolder, FileRefused } from './agency-folder.ts';
import { type Faults, FILE_START, inWords, NO_POSITION } from './fault.ts';
import type { Skill } from './loaded-agency.ts';
import { readMarkdownAgent } from './markdown-agent.ts';

const FOLDER = 'skills';
const MAX_DESCRIPTION = 1024;

/** Reads the front matter of all skills. Agents read the rest when they use one. */
export async function loadSkills(folder: AgencyFolder | null, faults: Faults): Promise<readonly Skill[]> {
  if (folder === null) return [];
  const skills: Skill[] = [];
  for (const name of await folder.list(FOLDER)) {
    if (name.startsWith('.')) continue;
    const file = `${FOLDER}/${name}/SKILL.md`;
    try {
      const skill = readSkill(name, file, await folder.read(file), faults);
      if (skill !== null) skills.push(skill);
    } catch (error) {
      if (!(error instanceof FileRefused)) throw error;
      faults.addAt(`${FOLDER}/${name}`, NO_POSITION, error.message);
    }
  }
  return skills;
}

function readSkill(folder: string, file: string, text: string, faults: Faults): Skill | null {
  const markdown = readMarkdownAgent(file, text, faults);
  if (markdown === null) return null;
  const { value, location } = markdown;
  const { name, description } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  if (filenameProblem(folder) !== null) {
    faults.addAt(file, FILE_START, `The folder's name \`${folder}\` cannot be that of a skill; rename the folder.`);
  } else if (name !== undefined && name !== folder) {
    faults.add(
      location,
      ['name'],
      `\`name\` must be the name of the folder; write \`${folder}\`, or rename the folder.`,
    );
  } else if (typeof description !== 'string' || description.trim() === '') {
    faults.add(location, ['description'], 'The skill has no `description`; write when it is useful.');
  } else if (description.length > MAX_DESCRIPTION) {
    faults.add(location, ['description'], `\`description\` is longer than ${MAX_DESCRIPTION} characters; shorten it.`);
  } else return { name: folder, description: description.trim().replaceAll(/\s+/g, ' ') };
  return null;
}

/** Returns the skills that the agent names, or all of the agency if it names none. */
export function getSkills(
  { value, location, path }: AgentDraft,
  skills: readonly Skill[],
  faults: Faults,
): readonly Skill[] {
  if (value.skills === undefined) return skills;
  return value.skills.flatMap((name, index) => {
    const skill = skills.find((one) => one.name === name);
    if (skill !== undefined) return [skill];
    const known = skills.map((one) => one.name);
    const remedy = known.length === 0 ? `add the folder \`${FOLDER}/${name}\`` : `write ${inWords(known)}`;
    faults.add(location, [...path, 'skills', index], `There is no skill \`${name}\`; ${remedy}.`);
    return [];
  });
}

/** The part of the instructions about the agency's files. Empty if there are none. */
export function filesText(skills: readonly Skill[], hasFiles: boolean): string {
  const named = skills.map(
    ({ name, description }) => `- ${name}: ${description} (${AGENCY}/${FOLDER}/${name}/SKILL.md)`,
  );
  const ofSkills = ['Skills. Before you use one, read its file, and follow it:', ...named].join('\n');
  const ofFiles = `Files that you can read, and not change, are in ${AGENCY}/files.`;
  return [...(named.length > 0 ? [ofSkills] : []), ...(hasFiles ? [ofFiles] : [])].join('\n\n');
}
