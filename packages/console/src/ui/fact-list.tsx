import type { ReactNode } from 'react';
import { Nothing } from './nothing.tsx';

export interface NamedFact {
  readonly title: string;
  /** Null if it is not known. */
  readonly value: string | null;
  /** A second line, such as the value before. */
  readonly detail?: ReactNode;
}

/** Figures in cards. */
export function FactList({ facts, label }: { readonly facts: readonly NamedFact[]; readonly label?: string }) {
  return (
    <dl className="totals" {...(label !== undefined && { 'aria-label': label })}>
      {facts.map(({ title, value, detail }) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>{value ?? <Nothing />}</dd>
          {detail !== undefined && <dd className="totals-detail">{detail}</dd>}
        </div>
      ))}
    </dl>
  );
}
