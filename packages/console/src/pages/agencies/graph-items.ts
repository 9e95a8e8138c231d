import type { GraphFlow } from './graph-columns.ts';

export const NODE_WIDTH = 152;
export const COLUMN_GAP = 72;
export const PADDING = 16;
/** The distance of two columns. */
export const STEP = NODE_WIDTH + COLUMN_GAP;

/** A node, or the place at which a longer curve crosses a column. */
export interface Item {
  readonly name: string | null;
  readonly column: number;
  readonly height: number;
  /** The top. */
  y: number;
}

/** One flow with everything that it crosses, from the left to the right. */
export interface Route {
  readonly flow: GraphFlow;
  readonly items: readonly Item[];
  /** True if the flow leads to the left. */
  readonly isBackward: boolean;
}

export const left = ({ column }: Item) => PADDING + column * STEP;
export const right = (item: Item) => left(item) + NODE_WIDTH;
export const middle = ({ y, height }: Item) => y + height / 2;

/** True if both ends are in the same column. Such a flow is an arc at its right side. */
export const isArc = ({ items: [start, end] }: Route) => start?.column === end?.column;
