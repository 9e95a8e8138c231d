import type { Agency } from '@runwire/client';
import { formatCount } from '../../lib/format.ts';
import { Badge } from '../../ui/feedback.tsx';
import { KINDS } from './agency-words.ts';

/** At most this many rows are shown without a click. */
const FEW = 8;

/** The flows as text: what the graph shows. */
export function FlowsTable({ flows }: Pick<Agency, 'flows'>) {
  return (
    <details className="flows" open={flows.length <= FEW}>
      <summary>
        <h2>Flows as a table</h2> <span className="muted">{formatCount(flows.length, 'flow')}</span>
      </summary>
      <div className="table-frame">
        <table className="table">
          <caption className="visually-hidden">Which agent hands over or delegates to which</caption>
          <thead>
            <tr>
              <th scope="col">From</th>
              <th scope="col">Kind</th>
              <th scope="col">To</th>
            </tr>
          </thead>
          <tbody>
            {flows.map(({ from, to, kind, lasts, conditional }) => (
              <tr key={`${kind} ${JSON.stringify([from, to])}`} data-row>
                <td title={from}>
                  <bdi>{from}</bdi>
                </td>
                <td>
                  <span className="row-title">
                    {KINDS[kind]}
                    {lasts !== null && <span className="small muted">lasts</span>}
                  </span>
                  {conditional && <Badge>conditional</Badge>}
                </td>
                <td title={to}>
                  <bdi>{to}</bdi>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
