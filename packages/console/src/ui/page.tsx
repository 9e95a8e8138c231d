import { type ReactNode, useEffect, useRef } from 'react';
import { noteRecentPage } from '../app/recent-pages.ts';
import { nameWindow } from '../app/window-title.ts';

interface PageProps {
  readonly title: string;
  /** Which of several things the page shows, for example a folder. If it changes, the focus moves to the title. */
  readonly place?: string;
  /** One or two sentences about the page. */
  readonly lead?: ReactNode;
  /** Buttons beside the title. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

let isFirstPage = true;

/** Every page's frame. It names the window, and moves the focus to the title after a navigation. */
export function Page({ title, place, lead, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const name = [place, title].filter((part) => part !== undefined).join(' · ');
    nameWindow(`${name} · Runwire`);
    noteRecentPage(name);
  }, [place, title]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another place is another page for the person.
  useEffect(() => {
    if (!isFirstPage) heading.current?.focus({ preventScroll: true });
    isFirstPage = false;
  }, [place]);
  return (
    <>
      <header className="page-head">
        <div className="stack-tight">
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead !== undefined && <p>{lead}</p>}
        </div>
        {actions !== undefined && <div className="row">{actions}</div>}
      </header>
      {children}
    </>
  );
}
