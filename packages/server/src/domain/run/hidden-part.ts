import { handOffName } from './hand-off-name.ts';

/** A tool or a flow that the agency's code hid from the model in a step. */
export interface HiddenPart {
  readonly kind: 'tool' | 'handoff' | 'delegate';
  /** The tool's name, or the agent to which the flow leads. */
  readonly name: string;
}

/** The names of hidden tools, also of those by which an agent hands over. Recipients of messages have no tool of their own. */
export const hiddenTools = (hidden: readonly HiddenPart[]): ReadonlySet<string> =>
  new Set(
    hidden.flatMap(({ kind, name }) => (kind === 'delegate' ? [] : [kind === 'tool' ? name : handOffName(name)])),
  );
