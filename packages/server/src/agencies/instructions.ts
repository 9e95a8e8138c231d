import type { AboutRun, InstructionTexts } from './loaded-agency.ts';

/** Returns the instructions for a run. */
export type WriteInstructions = (about: AboutRun) => string | Promise<string>;

export const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;
const ROOTS = ['user_context', 'member', 'date'];
/** Instructions may also contain the chat's state. */
const INSTRUCTION_ROOTS = [...ROOTS, 'state'];

export interface UnknownPlaceholder {
  /** As written, with its braces. */
  readonly written: string;
  readonly message: string;
}

/** Returns the first placeholder of instructions that has no value, or null. */
export const unknownInInstructions = (text: string): UnknownPlaceholder | null =>
  findUnknown(text, INSTRUCTION_ROOTS, '`{{user_context.x}}`, `{{member.x}}`, `{{state.x}}` or `{{date}}`');

/** The same for texts of an agency that are no instructions. */
export const unknownPlaceholder = (text: string): UnknownPlaceholder | null =>
  findUnknown(text, ROOTS, '`{{user_context.x}}`, `{{member.x}}` or `{{date}}`');

function findUnknown(text: string, roots: readonly string[], known: string): UnknownPlaceholder | null {
  for (const [written, inner = ''] of text.matchAll(PLACEHOLDER)) {
    const [root = '', ...rest] = inner.trim().split('.');
    if (root === 'date' && rest.length > 0)
      return { written, message: `\`${written}\` does not exist; write \`{{date}}\`.` };
    if (roots.includes(root)) continue;
    return { written, message: `\`${written}\` does not exist; write ${known}.` };
  }
  return null;
}

export const usesMember = (text: string): boolean => hasRoot(text, 'member');
export const usesState = (text: string): boolean => hasRoot(text, 'state');

const hasRoot = (text: string, root: string): boolean =>
  [...text.matchAll(PLACEHOLDER)].some(([, inner = '']) => inner.trim().split('.')[0] === root);

/** Puts the values in. They are inserted once: braces in a value stay as they are. */
export function fillIn(text: string, about: AboutRun): string {
  return text.replaceAll(PLACEHOLDER, (_written, inner: string) => {
    const [root, ...rest] = inner.trim().split('.');
    if (root === 'date') return about.date;
    let value: unknown = root === 'member' ? about.member : root === 'state' ? about.state : about.userContext;
    for (const name of rest) {
      const isInside = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
      value = isInside ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
    }
    return asText(value);
  });
}

function asText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Text files and block texts end with a line break, which is not part of the instructions. */
export const trimmed = (text: string) => text.replace(/^(?:[ \t]*\r?\n)+/, '').trimEnd();

export interface InstructionParts {
  readonly shared: string;
  readonly own: string | WriteInstructions;
  readonly contextToModel: boolean;
  /** About the agency's files. Placeholders in it are not filled. */
  readonly files: string;
}

/** One function for the shared instructions, the agent's own, and the user's context. */
export function writeInstructions(parts: InstructionParts): WriteInstructions {
  const { own } = parts;
  if (typeof own === 'string') return writeFixedInstructions(parts);
  return async (about) => {
    const text: unknown = await own(about);
    if (typeof text !== 'string') throw new TypeError(`The function returned no text, but ${typeof text}.`);
    return joined(parts, about, text);
  };
}

/** Like `writeInstructions`, but never calls the agency's code: what a function would write is left out. */
export function writeFixedInstructions(parts: InstructionParts): (about: AboutRun) => string {
  const { shared, own, contextToModel } = parts;
  const text = typeof own === 'string' ? own : '';
  if (contextToModel || hasPlaceholders(shared) || hasPlaceholders(text)) {
    return (about) => joined(parts, about, fillIn(text, about));
  }
  const same = joined(parts, NO_VALUES, text);
  return () => same;
}

/**
 * The instructions of a run that has ended, without the agency's code and without `user_context`, which is deleted with the
 * end. `text` is null if a function made it. `isWhole` is false if something is missing in it.
 */
export function knownInstructions(
  { shared, own, contextToModel, files }: InstructionTexts,
  about: AboutRun,
): { readonly text: string | null; readonly isWhole: boolean } {
  if (own === null) return { text: null, isWhole: false };
  let isWhole = !contextToModel;
  const fill = (text: string) =>
    text.replaceAll(PLACEHOLDER, (written, inner: string) => {
      if (inner.trim().split('.')[0] !== 'user_context') return fillIn(written, about);
      isWhole = false;
      return written;
    });
  const text = [fill(shared), fill(own), files].filter((part) => part !== '').join('\n\n');
  return { text, isWhole };
}

const hasPlaceholders = (text: string) => text.search(PLACEHOLDER) !== -1;

/** For instructions without placeholders. */
const NO_VALUES: AboutRun = { date: '', member: null, userContext: undefined, state: {} };

function joined({ shared, contextToModel, files }: InstructionParts, about: AboutRun, own: string): string {
  const context = contextToModel && about.userContext !== undefined ? contextText(about.userContext) : '';
  return [fillIn(shared, about), own, files, context].filter((text) => text !== '').join('\n\n');
}

const contextText = (context: unknown) => `user_context:\n${JSON.stringify(context)}`;
