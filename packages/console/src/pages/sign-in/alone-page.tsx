import type { ReactNode } from 'react';
import { consoleUrl } from '../../app/addresses.ts';
import { ConnectionNotice } from '../../ui/connection-notice.tsx';
import { Page } from '../../ui/page.tsx';

interface AlonePageProps {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly children: ReactNode;
}

/** A page for people who are not signed in: without the menu. */
export function AlonePage({ title, lead, children }: AlonePageProps) {
  return (
    <main className="alone">
      <span className="brand">
        <img src={new URL('icon.svg', consoleUrl).href} alt="" />
        Runwire
      </span>
      <div className="card">
        <ConnectionNotice />
        <Page title={title} lead={lead}>
          <div className="stack">{children}</div>
        </Page>
      </div>
    </main>
  );
}
