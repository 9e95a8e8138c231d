import type { ReactNode } from 'react';

/** A title and its value in a `dl` with the class `agency-facts`. */
export function Fact({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  );
}
