import type { AgencyDraft } from './agency-draft.ts';
import { type AgencyFolder, besideFile, FileRefused } from './agency-folder.ts';
import type { Faults } from './fault.ts';
import { loadModules } from './load-modules.ts';

/** Loads the modules that `toolFiles` lists. Their named exports are tools: by `name`, or by the name of the export. */
export async function loadToolFiles(
  { value, place }: AgencyDraft,
  folder: AgencyFolder | null,
  faults: Faults,
): Promise<ReadonlyMap<string, object>> {
  const tools = new Map<string, object>();
  const files: string[] = [];
  for (const [index, written] of (value.toolFiles ?? []).entries()) {
    const path = ['toolFiles', index];
    const file = besideFile(place.file, written);
    if (!file.endsWith('.ts')) {
      faults.add(
        place,
        path,
        `\`${written}\` is not a TypeScript file; write the path of a file that ends in \`.ts\`.`,
      );
      continue;
    }
    try {
      await folder?.read(file);
      files.push(file);
    } catch (error) {
      if (!(error instanceof FileRefused)) throw error;
      faults.add(place, path, error.message);
    }
  }
  if (folder === null || files.length === 0 || faults.count > 0) return tools;
  for (const [index, exports] of (await loadModules(folder, files, faults)).entries()) {
    for (const [name, tool] of Object.entries(exports)) {
      // If an agent names the function, it gets a sentence about it.
      if (typeof tool === 'function' && !tools.has(name)) tools.set(name, tool);
      if (typeof tool !== 'object' || tool === null || !('execute' in tool || 'inputSchema' in tool)) continue;
      const known = 'name' in tool && typeof tool.name === 'string' ? tool.name : name;
      if (typeof tools.get(known) === 'object') {
        faults.add(
          place,
          ['toolFiles', index],
          `\`${files[index]}\` exports a second tool \`${known}\`; rename one of them.`,
        );
      }
      tools.set(known, tool);
    }
  }
  return tools;
}
