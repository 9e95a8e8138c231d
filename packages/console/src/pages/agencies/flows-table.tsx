import type { Agency } from '@runwire/client';
import { KINDS } from './agency-words.ts';

/** The flows as text: what the graph shows. */
export function FlowsTable({ flows }: Pick<Agency, 'flows'>) {
  return (
    <section className="stack-tight" aria-labelledby="flows">
      <h2 id="flows">Flows</h2>
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
            {flows.map(({ from, to, kind }) => (
              <tr key={`${kind} ${JSON.stringify([from, to])}`} data-row>
                <td title={from}>
                  <bdi>{from}</bdi>
                </td>
                <td>{KINDS[kind]}</td>
                <td title={to}>
                  <bdi>{to}</bdi>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
