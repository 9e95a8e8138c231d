import { formatNumber } from '../../lib/format.ts';

interface RefusalsProps {
  readonly refusals: readonly (readonly [code: string, count: number])[];
}

/** Refused requests by their error's code. */
export function Refusals({ refusals }: RefusalsProps) {
  return (
    <div className="table-frame refusals">
      <table className="table">
        <caption className="visually-hidden">Refused requests by code</caption>
        <thead>
          <tr>
            <th scope="col">Refused with</th>
            <th scope="col" className="end">
              Requests
            </th>
          </tr>
        </thead>
        <tbody>
          {refusals.map(([code, count]) => (
            <tr key={code} data-row>
              <td>
                <code>{code}</code>
              </td>
              <td className="end">{formatNumber(count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
