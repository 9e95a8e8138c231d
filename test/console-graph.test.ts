import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type GraphFlow, listColumns } from '../packages/console/src/pages/agencies/graph-columns.ts';
import { type Graph, type GraphNode, layOutGraph } from '../packages/console/src/pages/agencies/graph-layout.ts';

/** Reads flows as agencies write them: `A => B` is a hand-off, `A -> B` a delegation. */
const flow = (text: string): GraphFlow => {
  const [from = '', sign, to = ''] = text.split(' ');
  return { from, to, kind: sign === '=>' ? 'handoff' : 'delegate', lasts: null, conditional: false };
};

const lay = (agents: string, entryPoints: string, ...flows: string[]) =>
  layOutGraph({ agents: [...agents], entryPoints: [...entryPoints], flows: flows.map(flow) });

const columns = (agents: string, entryPoints: string, ...flows: string[]) =>
  Object.fromEntries(listColumns({ agents: [...agents], entryPoints: [...entryPoints], flows: flows.map(flow) }));

function node({ nodes }: Graph, name: string): GraphNode {
  const found = nodes.find((item) => item.name === name);
  assert.ok(found, name);
  return found;
}

/** The points at which a curve begins and at which the tip of its arrow is. */
function ends(graph: Graph, index = 0) {
  const edge = graph.edges[index];
  assert.ok(edge);
  const point = (path: string) => path.split(' ').slice(1, 3).map(Number);
  return { start: point(edge.line), tip: point(edge.arrow) };
}

function touches({ x, y, width, height }: GraphNode, [pointX = 0, pointY = 0]: readonly number[]): boolean {
  const isAtSide = Math.abs(pointX - x) < 10 || Math.abs(pointX - (x + width)) < 10;
  return isAtSide && pointY > y && pointY < y + height;
}

test('a flow leads one column to the right', () => {
  assert.deepEqual(columns('ABC', 'A', 'A => B', 'B -> C'), { A: 0, B: 1, C: 2 });
});

test('the longest way decides the column', () => {
  assert.deepEqual(columns('ABCD', 'A', 'A => D', 'A => B', 'B => C', 'C => D'), { A: 0, B: 1, C: 2, D: 3 });
});

test('a cycle is opened at the first entry point', () => {
  assert.deepEqual(columns('ABC', 'A', 'A => B', 'B => C', 'C => A'), { A: 0, B: 1, C: 2 });
  assert.deepEqual(columns('ABC', 'B', 'A => B', 'B => C', 'C => A'), { B: 0, C: 1, A: 2 });
});

test('an entry point to which no flow leads is in the first column', () => {
  assert.deepEqual(columns('ABC', 'AC', 'A => B', 'C -> B'), { A: 0, B: 1, C: 0 });
});

test('an agent that neither a request nor a flow reaches is not in the first column', () => {
  assert.deepEqual(columns('AB', 'A'), { A: 0, B: 1 });
  assert.deepEqual(columns('AB', ''), { A: 0, B: 0 });
});

test('one agent needs no flow', () => {
  const graph = lay('A', 'A');
  assert.equal(graph.nodes.length, 1);
  assert.equal(graph.edges.length, 0);
  assert.ok(graph.width > node(graph, 'A').width && graph.height > node(graph, 'A').height);
});

test('no agents make an empty graph', () => {
  assert.deepEqual(lay('', '').nodes, []);
});

test('a curve begins at its agent, and its arrow is at the other', () => {
  const graph = lay('AB', 'A', 'A => B');
  const { start, tip } = ends(graph);
  assert.ok(touches(node(graph, 'A'), start) && touches(node(graph, 'B'), tip), JSON.stringify(graph));
});

test('a flow to the left has its arrow at the left agent', () => {
  const graph = lay('ABC', 'A', 'A => B', 'B => C', 'C => A');
  const { start, tip } = ends(graph, 2);
  assert.ok(touches(node(graph, 'C'), start) && touches(node(graph, 'A'), tip), JSON.stringify(graph));
  assert.ok((start[0] ?? 0) > (tip[0] ?? 0));
});

test('two flows of the same agents are two curves', () => {
  const { edges } = lay('AB', 'A', 'A => B', 'A -> B', 'B => A');
  assert.equal(new Set(edges.map(({ line }) => line)).size, 3);
  assert.deepEqual(
    edges.map(({ kind }) => kind),
    ['handoff', 'delegate', 'handoff'],
  );
});

test('a flow in one column, and to the same agent, is an arc', () => {
  const graph = lay('ABC', 'AB', 'B => B', 'A => C', 'B => C');
  const { start, tip } = ends(graph);
  assert.ok(touches(node(graph, 'B'), start) && touches(node(graph, 'B'), tip), JSON.stringify(graph));
  assert.notDeepEqual(start, tip);
});

test('a flow of an unknown agent is left out', () => {
  assert.equal(lay('A', 'A', 'A => X', 'X => A').edges.length, 0);
});

test('agents never overlap, and everything is inside, for up to 40 agents with any flows', () => {
  const graphs = fc.integer({ min: 1, max: 40 }).chain((count) => {
    const name = fc.integer({ min: 0, max: count - 1 }).map((index) => `agent ${index}`);
    const agents = Array.from({ length: count }, (_, index) => `agent ${index}`);
    return fc.record({
      agents: fc.constant(agents),
      entryPoints: fc.subarray(agents),
      flows: fc.uniqueArray(
        fc.record({
          from: name,
          to: name,
          kind: fc.constantFrom('handoff' as const, 'delegate' as const),
          lasts: fc.constantFrom('chat' as const, null),
          conditional: fc.boolean(),
        }),
        { maxLength: 80, selector: ({ from, to, kind }) => `${from} ${to} ${kind}` },
      ),
    });
  });
  fc.assert(
    fc.property(graphs, (input) => {
      const { nodes, edges, width, height } = layOutGraph(input);
      assert.deepEqual(nodes.map(({ name }) => name).toSorted(), input.agents.toSorted());
      assert.equal(edges.length, input.flows.length);
      for (const { lasts, dot, line } of edges) {
        const [x = 0, y = 0] = line.split(' ').slice(1, 3).map(Number);
        assert.equal(dot?.startsWith(`M ${Math.round((x - 4) * 10) / 10} ${y} `), lasts === null ? undefined : true);
      }
      for (const [index, one] of nodes.entries()) {
        assert.ok(one.x >= 0 && one.y >= 0 && one.x + one.width <= width && one.y + one.height <= height);
        for (const other of nodes.slice(index + 1)) {
          const isApart = one.x !== other.x || one.y + one.height <= other.y || other.y + other.height <= one.y;
          assert.ok(isApart, `${one.name} and ${other.name} overlap`);
        }
      }
      for (const { line } of edges) {
        const numbers = line.split(' ').filter((part) => part !== 'M' && part !== 'C');
        for (const [index, text] of numbers.entries()) {
          const value = Number(text);
          assert.ok(value >= 0 && value <= (index % 2 === 0 ? width : height), `${line} in ${width} x ${height}`);
        }
      }
    }),
    { numRuns: 60 },
  );
});
