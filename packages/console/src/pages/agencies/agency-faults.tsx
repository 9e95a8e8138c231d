import type { Agency } from '@runwire/client';
import { Prose } from '../../ui/prose.tsx';

interface AgencyFaultsProps {
  readonly error: NonNullable<Agency['error']>;
  /** True if completions use an earlier version. */
  readonly hasOldVersion: boolean;
}

/** Why the files cannot be loaded: each fault with its place, as an editor shows it. */
export function AgencyFaults({ error: { faults }, hasOldVersion }: AgencyFaultsProps) {
  return (
    <section className="notice notice-bad" aria-labelledby="faults">
      <h2 id="faults">The files of this agency cannot be loaded</h2>
      <p>
        {hasOldVersion
          ? 'Runs use the last version that could be loaded, which this page shows.'
          : 'Requests to its integrations are refused until the files are fixed.'}{' '}
        This page shows a fix within 10 s.
      </p>
      <ul className="faults">
        {faults.map(({ file, line, column, message }) => (
          <li key={`${file}:${line}:${column}:${message}`}>
            <code>{[file, line, column].filter((part) => part !== null).join(':')}</code>
            <span>
              <Prose text={message} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
