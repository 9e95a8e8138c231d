import type { Agency } from '@runwire/client';
import { formatCount } from '../../lib/format.ts';
import { Status } from '../../ui/feedback.tsx';
import { Prose } from '../../ui/prose.tsx';
import { Time } from '../../ui/time.tsx';

interface McpServersProps {
  readonly servers: Agency['mcp'];
}

/** The MCP servers as the node that answered sees them. */
export function McpServers({ servers }: McpServersProps) {
  return (
    <section className="stack-tight" aria-labelledby="mcp-servers">
      <h2 id="mcp-servers">MCP servers</h2>
      {servers.length === 0 ? (
        <p className="muted">This agency uses no MCP server.</p>
      ) : (
        <ul className="grid agency-cards">
          {servers.map(({ server, state, tools, error, since, lastOutput }) => (
            <li key={server} className="card stack-tight">
              <div className="spread">
                <h3>
                  <bdi>{server}</bdi>
                </h3>
                <Status status={state} />
              </div>
              <p className="muted">
                {formatCount(tools, 'tool')}, {state} since <Time time={since} />
              </p>
              {error !== null && (
                <p className="agency-error">
                  <Prose text={error} />
                </p>
              )}
              {lastOutput !== null && (
                <p className="small">
                  Last line of stderr:{' '}
                  <code>
                    <bdi>{lastOutput}</bdi>
                  </code>
                </p>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
