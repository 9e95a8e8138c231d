import { type GraphFlow, type GraphInput, listColumns } from './graph-columns.ts';
import { type GraphEdge, getPorts, toEdge } from './graph-curves.ts';
import { COLUMN_GAP, type Item, isArc, left, middle, NODE_WIDTH, PADDING, type Route, STEP } from './graph-items.ts';

/* Places an agency's agents in columns, so that most flows lead from left to right. */

export interface GraphNode {
  readonly name: string;
  readonly isEntryPoint: boolean;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Graph {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** Room for the name, the mark of an entry point and the number of runs. */
const NODE_HEIGHT = 64;
const ROW_GAP = 16;
/** The height that a curve gets in a column that it crosses. */
const CROSSING_HEIGHT = 8;
/** The distance of two flows at a node's side. */
const PORT_GAP = 10;
const SWEEPS = 8;

export function layOutGraph(input: GraphInput): Graph {
  const known = new Set(input.agents);
  const flows = input.flows.filter(({ from, to }) => known.has(from) && known.has(to));
  const entryPoints = input.entryPoints.filter((name) => known.has(name));
  const pickColumn = listColumns({ agents: input.agents, entryPoints, flows });
  const column = (name: string) => pickColumn.get(name) ?? 0;

  const items = new Map(
    input.agents.map((name): [string, Item] => {
      const ports = Math.max(...portCounts(name, flows, column));
      return [name, { name, column: column(name), height: Math.max(NODE_HEIGHT, (ports + 1) * PORT_GAP), y: 0 }];
    }),
  );
  const routes = flows.map((flow) => getRoute(flow, items));
  const columns = orderColumns([...items.values()], routes);
  placeRows(columns, routes);

  const top = Math.min(...columns.flat().map(({ y }) => y), 0);
  for (const item of columns.flat()) item.y += PADDING - top;
  const ports = getPorts(routes);
  const bottom = Math.max(...columns.flat().map((item) => item.y + item.height), 0);
  const hasArcAtEnd = routes.some((route) => isArc(route) && route.items[0]?.column === columns.length - 1);
  return {
    width: 2 * PADDING + columns.length * STEP - (hasArcAtEnd ? 0 : COLUMN_GAP),
    height: bottom + PADDING,
    nodes: columns.flat().flatMap((item) => getNode(item, entryPoints)),
    edges: routes.map((route, index) => toEdge(route, ports[index] ?? [])),
  };
}

function getNode(item: Item, entryPoints: readonly string[]): GraphNode[] {
  const { name, y, height } = item;
  if (name === null) return [];
  return [{ name, isEntryPoint: entryPoints.includes(name), x: left(item), y, width: NODE_WIDTH, height }];
}

/** How many flows are at the left and at a node's right side. */
function portCounts(name: string, flows: readonly GraphFlow[], column: (name: string) => number): [number, number] {
  let atLeft = 0;
  let atRight = 0;
  for (const { from, to } of flows) {
    for (const [here, there] of [
      [from, to],
      [to, from],
    ] as const) {
      if (here !== name) continue;
      if (column(there) < column(here)) atLeft += 1;
      else atRight += 1;
    }
  }
  return [atLeft, atRight];
}

function getRoute(flow: GraphFlow, items: ReadonlyMap<string, Item>): Route {
  const from = items.get(flow.from) as Item;
  const to = items.get(flow.to) as Item;
  const isBackward = from.column > to.column;
  const [start, end] = isBackward ? [to, from] : [from, to];
  const crossings = Array.from({ length: Math.max(end.column - start.column - 1, 0) }, (_, index) => ({
    name: null,
    column: start.column + index + 1,
    height: CROSSING_HEIGHT,
    y: 0,
  }));
  return { flow, items: [start, ...crossings, end], isBackward };
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

type Neighbours = ReadonlyMap<Item, readonly Item[]>;

/** Each item's items in the next column, and in the one before. */
function listNeighbours(routes: readonly Route[]): { readonly before: Neighbours; readonly after: Neighbours } {
  const hops = routes
    .filter((route) => !isArc(route))
    .flatMap(({ items }) => items.slice(1).map((end, index) => ({ start: items[index] as Item, end })));
  const group = (by: 'start' | 'end', other: 'start' | 'end') =>
    new Map([...Map.groupBy(hops, (hop) => hop[by])].map(([item, its]) => [item, its.map((hop) => hop[other])]));
  return { before: group('end', 'start'), after: group('start', 'end') };
}

/** Sorts each column by the mean place of the neighbours, from the left and from the right, so that few curves cross. */
function orderColumns(nodes: readonly Item[], routes: readonly Route[]): Item[][] {
  const all = [...nodes, ...routes.flatMap(({ items }) => items.filter(({ name }) => name === null))];
  const columns: Item[][] = [];
  for (const item of all) {
    while (columns.length <= item.column) columns.push([]);
    columns[item.column]?.push(item);
  }
  const { before, after } = listNeighbours(routes);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const isRightward = sweep % 2 === 0;
    const neighbours = isRightward ? before : after;
    const places = new Map<Item, number>();
    for (const column of isRightward ? columns : columns.toReversed()) {
      const wanted = new Map(
        column.map((item, index) => {
          const others = (neighbours.get(item) ?? []).map((other) => places.get(other) ?? 0);
          return [item, others.length === 0 ? index / column.length : mean(others)];
        }),
      );
      column.sort((one, other) => (wanted.get(one) ?? 0) - (wanted.get(other) ?? 0));
      for (const [index, item] of column.entries()) places.set(item, (index + 0.5) / column.length);
    }
  }
  return columns;
}

/** Moves items towards their neighbours, and keeps the order and the distance in each column. */
function placeRows(columns: readonly (readonly Item[])[], routes: readonly Route[]): void {
  for (const column of columns) {
    const height = column.reduce((sum, item) => sum + item.height + ROW_GAP, -ROW_GAP);
    let y = -height / 2;
    for (const item of column) {
      item.y = y;
      y += item.height + ROW_GAP;
    }
  }
  const { before, after } = listNeighbours(routes);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const neighbours = sweep % 2 === 0 ? before : after;
    for (const column of sweep % 2 === 0 ? columns : columns.toReversed()) {
      const wanted = column.map((item) => {
        const others = neighbours.get(item) ?? [];
        return others.length === 0 ? item.y : mean(others.map(middle)) - item.height / 2;
      });
      separate(column, wanted);
    }
  }
}

/** Pushing everything down keeps the distances, and so does pushing everything up. Hence the mean of both does. */
function separate(column: readonly Item[], wanted: readonly number[]): void {
  const down: number[] = [];
  for (const [index, y] of wanted.entries()) {
    const previous = column[index - 1];
    const limit = previous === undefined ? -Infinity : (down[index - 1] as number) + previous.height + ROW_GAP;
    down.push(Math.max(y, limit));
  }
  let limit = Infinity;
  for (const [index, item] of [...column.entries()].toReversed()) {
    const up = Math.min(wanted[index] as number, limit - item.height);
    limit = up - ROW_GAP;
    item.y = ((down[index] as number) + up) / 2;
  }
}
