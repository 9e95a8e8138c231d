import type { ReactNode } from 'react';

interface RowTitleProps {
  /** The link to the row's page. */
  readonly children: ReactNode;
  /** A second line. */
  readonly detail?: ReactNode;
  readonly isError?: boolean;
}

/** The main text of a table's row, on at most two lines. */
export const RowTitle = ({ children, detail = null, isError = false }: RowTitleProps) => (
  <span className="row-title">
    {children}
    {detail !== null && (
      <bdi
        className={isError ? 'row-detail row-error' : 'row-detail'}
        title={typeof detail === 'string' ? detail : undefined}
      >
        {detail}
      </bdi>
    )}
  </span>
);
