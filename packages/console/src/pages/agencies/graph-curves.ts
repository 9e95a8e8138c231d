import type { GraphFlow } from './graph-columns.ts';
import { COLUMN_GAP, type Item, isArc, left, middle, type Route, right } from './graph-items.ts';

const ARROW_LENGTH = 8;
const ARROW_HALF = 4;

export interface GraphEdge extends GraphFlow {
  /** The curve as the `d` of an SVG path. */
  readonly line: string;
  /** The arrowhead as the `d` of an SVG path. */
  readonly arrow: string;
  /** The dot at the start of a hand-off that lasts, as the `d` of an SVG path. Null for other flows. */
  readonly dot: string | null;
}

/** The heights at which each route leaves its first and reaches its last item. Flows at one side do not touch. */
export function getPorts(routes: readonly Route[]): number[][] {
  const ends = routes.flatMap((route, index) => {
    const { items } = route;
    const [start, last] = [items[0] as Item, items.at(-1) as Item];
    const endSide = isArc(route) ? 'right' : 'left';
    return [
      { index, end: 0, item: start, side: 'right', towards: middle(items[1] as Item) },
      { index, end: 1, item: last, side: endSide, towards: middle(items.at(-2) as Item) },
    ];
  });
  const heights = routes.map(() => [0, 0]);
  for (const atItem of Map.groupBy(ends, ({ item }) => item).values()) {
    for (const atSide of Map.groupBy(atItem, ({ side }) => side).values()) {
      const sorted = atSide.toSorted((one, other) => one.towards - other.towards || one.index - other.index);
      for (const [place, { index, end, item }] of sorted.entries()) {
        const height = item.y + (item.height * (place + 1)) / (sorted.length + 1);
        (heights[index] as number[])[end] = height;
      }
    }
  }
  return heights;
}

const round = (value: number) => Math.round(value * 10) / 10;
const point = (x: number, y: number) => `${round(x)} ${round(y)}`;

function curve([x1, y1]: readonly [number, number], [x2, y2]: readonly [number, number]): string {
  const half = (x1 + x2) / 2;
  return `C ${point(half, y1)} ${point(half, y2)} ${point(x2, y2)}`;
}

/** An arrowhead with its tip at this point. */
function arrowAt(x: number, y: number, leads: 'left' | 'right'): string {
  const back = leads === 'right' ? -ARROW_LENGTH : ARROW_LENGTH;
  return `M ${point(x, y)} l ${back} ${-ARROW_HALF} v ${2 * ARROW_HALF} z`;
}

const DOT_RADIUS = 4;

/** A dot around the point at which the line begins. */
function dotAt(line: string): string {
  const [x = 0, y = 0] = line.split(' ').slice(1, 3).map(Number);
  const half = (sign: number) => `a ${DOT_RADIUS} ${DOT_RADIUS} 0 1 0 ${sign * 2 * DOT_RADIUS} 0`;
  return `M ${point(x - DOT_RADIUS, y)} ${half(1)} ${half(-1)} z`;
}

/** A flow with its curves. */
const edge = (flow: GraphFlow, line: string, arrow: string): GraphEdge => ({
  ...flow,
  line,
  arrow,
  dot: flow.lasts === null ? null : dotAt(line),
});

export function toEdge(route: Route, ports: readonly number[]): GraphEdge {
  const { flow, items, isBackward } = route;
  const [start, last] = [items[0] as Item, items.at(-1) as Item];
  const [startY = 0, lastY = 0] = ports;
  if (isArc(route)) {
    const x = right(start);
    const bend = x + Math.min(COLUMN_GAP, 32 + Math.abs(lastY - startY) / 6);
    const end = x + ARROW_LENGTH;
    const line = `M ${point(x, startY)} C ${point(bend, startY)} ${point(bend, lastY)} ${point(end, lastY)}`;
    return edge(flow, line, arrowAt(x, lastY, 'left'));
  }
  const points: [number, number][] = [
    [right(start) + (isBackward ? ARROW_LENGTH : 0), startY],
    ...items.slice(1, -1).flatMap((item): [number, number][] => [
      [left(item), middle(item)],
      [right(item), middle(item)],
    ]),
    [left(last) - (isBackward ? 0 : ARROW_LENGTH), lastY],
  ];
  const along = isBackward ? points.toReversed() : points;
  const line = along.map((to, index) => (index === 0 ? `M ${point(...to)}` : curve(along[index - 1] as typeof to, to)));
  const arrow = isBackward ? arrowAt(right(start), startY, 'left') : arrowAt(left(last), lastY, 'right');
  return edge(flow, line.join(' '), arrow);
}
