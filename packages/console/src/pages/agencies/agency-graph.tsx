import { useLayoutEffect, useRef } from 'react';
import type { Graph } from './graph-layout.ts';

interface AgencyGraphProps {
  readonly graph: Graph;
  readonly chosen: string;
  readonly onChoose: (agent: string) => void;
}

/** Agents as buttons over their flows' curves. The curves have a table as their text alternative. */
export function AgencyGraph({ graph: { width, height, nodes, edges }, chosen, onChoose }: AgencyGraphProps) {
  const box = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only at the start, because later the person scrolls.
  useLayoutEffect(() => {
    const node = nodes.find(({ name }) => name === chosen);
    if (node === undefined || box.current === null) return;
    const { clientWidth, clientHeight } = box.current;
    box.current.scrollTo(node.x + node.width / 2 - clientWidth / 2, node.y + node.height / 2 - clientHeight / 2);
  }, []);
  const isChosen = ({ from, to }: { readonly from: string; readonly to: string }) => from === chosen || to === chosen;
  return (
    <div className="card graph">
      <div ref={box} className="graph-scroll">
        <fieldset className="graph-canvas" style={{ width, height }}>
          <legend className="visually-hidden">Choose an agent to see its details</legend>
          <svg width={width} height={height} aria-hidden="true" focusable="false">
            {edges.map((edge) => (
              <g
                key={`${edge.kind} ${JSON.stringify([edge.from, edge.to])}`}
                className={isChosen(edge) ? `edge edge-${edge.kind} edge-chosen` : `edge edge-${edge.kind}`}
              >
                <path className="edge-line" d={edge.line} />
                <path className="edge-arrow" d={edge.arrow} />
              </g>
            ))}
          </svg>
          {nodes.map(({ name, isEntryPoint, x, y, width: nodeWidth, height: nodeHeight }) => (
            <button
              key={name}
              type="button"
              className={isEntryPoint ? 'graph-node graph-node-entry' : 'graph-node'}
              style={{ left: x, top: y, width: nodeWidth, height: nodeHeight }}
              aria-pressed={name === chosen}
              title={name}
              onClick={() => onChoose(name)}
            >
              <bdi className="ellipsis">{name}</bdi>
              {isEntryPoint && <span className="graph-mark">entry point</span>}
            </button>
          ))}
        </fieldset>
      </div>
      {edges.length > 0 && <Legend />}
    </div>
  );
}

function Legend() {
  return (
    <ul className="graph-legend small muted">
      <li>
        <LegendLine kind="handoff" />
        <span>Hand-off: the other agent continues</span>
      </li>
      <li>
        <LegendLine kind="delegate" />
        <span>Delegation: the other agent answers, the first continues</span>
      </li>
    </ul>
  );
}

function LegendLine({ kind }: { readonly kind: 'handoff' | 'delegate' }) {
  return (
    <svg width="40" height="10" aria-hidden="true" focusable="false" className={`edge edge-${kind}`}>
      <path className="edge-line" d="M 0 5 H 32" />
      <path className="edge-arrow" d="M 40 5 l -8 -4 v 8 z" />
    </svg>
  );
}
