import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { saveFile } from '../lib/save-file.ts';
import { ErrorNotice } from './error-notice.tsx';

interface CsvButtonProps {
  /** The name of the saved file. */
  readonly name: string;
  readonly load: () => Promise<Response>;
  /** What the file has. */
  readonly children: ReactNode;
}

/** Saves what a page lists as a file. */
export function CsvButton({ name, load, children }: CsvButtonProps) {
  const download = useMutation({ mutationFn: async () => saveFile(await (await load()).blob(), name) });
  return (
    <div className="stack-tight">
      <div className="row">
        <button
          type="button"
          className="button"
          aria-disabled={download.isPending}
          onClick={() => !download.isPending && download.mutate()}
        >
          {download.isPending ? 'Preparing the file…' : 'Download CSV'}
        </button>
        <span className="small muted">{children}</span>
      </div>
      {download.error !== null && <ErrorNotice error={download.error} />}
    </div>
  );
}
