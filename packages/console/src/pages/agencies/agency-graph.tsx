import { useLayoutEffect, useRef } from 'react';
import type { RunCounts } from './agency-usage.ts';
import type { GraphEdge } from './graph-curves.ts';
import type { Graph } from './graph-layout.ts';
import { RunCountsText } from './run-counts.tsx';
import { useZoom } from './use-zoom.ts';

interface AgencyGraphProps {
  readonly graph: Graph;
  readonly chosen: string;
  /** The runs of the last 24 hours by the agent at which they were started. Undefined until they are read. */
  readonly counts: ReadonlyMap<string, RunCounts> | undefined;
  readonly onChoose: (agent: string) => void;
}

const NO_RUNS: RunCounts = { runs: 0, failed: 0 };

/** Agents as buttons over their flows' curves. The curves have a table as their text alternative. */
export function AgencyGraph({ graph, chosen, counts, onChoose }: AgencyGraphProps) {
  const { width, height, nodes, edges } = graph;
  const box = useRef<HTMLDivElement>(null);
  const { scale, larger, smaller, fit } = useZoom(box, width);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only at the start, because later the person scrolls.
  useLayoutEffect(() => {
    const node = nodes.find(({ name }) => name === chosen);
    if (node === undefined || box.current === null) return;
    const { clientWidth, clientHeight } = box.current;
    const [x, y] = [scale * (node.x + node.width / 2), scale * (node.y + node.height / 2)];
    box.current.scrollTo(x - clientWidth / 2, y - clientHeight / 2);
  }, []);
  const isChosen = ({ from, to }: { readonly from: string; readonly to: string }) => from === chosen || to === chosen;
  return (
    <div className="card graph">
      <div ref={box} className="graph-scroll">
        <div className="graph-size" style={{ width: scale * width, height: scale * height }}>
          <fieldset className="graph-canvas" style={{ width, height, transform: `scale(${scale})` }}>
            <legend className="visually-hidden">Choose an agent to see its details</legend>
            <svg width={width} height={height} aria-hidden="true" focusable="false">
              {edges.map((edge) => (
                <g
                  key={`${edge.kind} ${JSON.stringify([edge.from, edge.to])}`}
                  className={edgeClass(edge, isChosen(edge))}
                >
                  <path className="edge-line" d={edge.line} />
                  <path className="edge-arrow" d={edge.arrow} />
                  {edge.dot !== null && <path className="edge-dot" d={edge.dot} />}
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
                {counts?.has(name) && (
                  <span className="graph-mark">
                    <RunCountsText counts={counts.get(name) ?? NO_RUNS} />
                  </span>
                )}
              </button>
            ))}
          </fieldset>
        </div>
      </div>
      <div className="graph-foot">
        {edges.length > 0 && <Legend edges={edges} />}
        <div className="row graph-zoom">
          {/* It has its place before the counts arrive, because on a narrow page it moves what is below. */}
          <span className="small muted" style={{ visibility: counts === undefined ? 'hidden' : 'visible' }}>
            Runs of the last 24 hours
          </span>
          <button type="button" className="button button-small" aria-label="Smaller" onClick={smaller}>
            −
          </button>
          <button type="button" className="button button-small" aria-label="Larger" onClick={larger}>
            +
          </button>
          <button type="button" className="button button-small" onClick={fit}>
            Fit to width
          </button>
        </div>
      </div>
    </div>
  );
}

const edgeClass = ({ kind, conditional }: Pick<GraphEdge, 'kind' | 'conditional'>, isChosen: boolean): string =>
  `edge edge-${kind}${conditional ? ' edge-conditional' : ''}${isChosen ? ' edge-chosen' : ''}`;

function Legend({ edges }: Pick<Graph, 'edges'>) {
  return (
    <ul className="graph-legend small muted">
      <li>
        <LegendLine kind="handoff" />
        <span>Hand-off: the other agent continues</span>
      </li>
      {edges.some(({ lasts }) => lasts !== null) && (
        <li>
          <LegendLine kind="handoff" isLasting />
          <span>Hand-off that lasts: the chat's next runs begin with the other agent</span>
        </li>
      )}
      <li>
        <LegendLine kind="delegate" />
        <span>Delegation: the other agent answers, the first continues</span>
      </li>
      {edges.some(({ conditional }) => conditional) && (
        <li>
          <LegendLine kind="handoff" conditional />
          <span>Pale: a function can hide it in a step</span>
        </li>
      )}
    </ul>
  );
}

interface LegendLineProps {
  readonly kind: GraphEdge['kind'];
  readonly isLasting?: boolean;
  readonly conditional?: boolean;
}

function LegendLine({ kind, isLasting = false, conditional = false }: LegendLineProps) {
  return (
    <svg
      width="40"
      height="10"
      aria-hidden="true"
      focusable="false"
      className={edgeClass({ kind, conditional }, false)}
    >
      <path className="edge-line" d="M 0 5 H 32" />
      <path className="edge-arrow" d="M 40 5 l -8 -4 v 8 z" />
      {isLasting && <circle className="edge-dot" cx="4" cy="5" r="4" />}
    </svg>
  );
}
