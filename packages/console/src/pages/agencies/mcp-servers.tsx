import type { Agency } from '@runwire/client';
import { formatCount } from '../../lib/format.ts';
import { Status } from '../../ui/feedback.tsx';
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
          {servers.map(({ server, state, tools, error, since }) => (
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
              {error !== null && <p className="agency-error">{error}</p>}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
