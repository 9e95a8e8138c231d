/** The languages that have colours. */
export type CodeLanguage = 'bash' | 'json' | 'python' | 'typescript' | 'yaml';

/** What people and models call them, and how their files end. */
const NAMES: Readonly<Record<string, CodeLanguage>> = {
  bash: 'bash',
  console: 'bash',
  sh: 'bash',
  shell: 'bash',
  json: 'json',
  jsonl: 'json',
  py: 'python',
  python: 'python',
  js: 'typescript',
  javascript: 'typescript',
  jsx: 'typescript',
  mjs: 'typescript',
  mts: 'typescript',
  ts: 'typescript',
  tsx: 'typescript',
  typescript: 'typescript',
  yaml: 'yaml',
  yml: 'yaml',
};

/** Finds the language by a name or by the end of a file's name. Undefined if it has no colours. */
export const toCodeLanguage = (name: string): CodeLanguage | undefined => NAMES[name.trim().toLowerCase()];
