import { useMutation } from '@tanstack/react-query';
import { api } from '../../app/api.ts';
import { saveFile } from '../../lib/save-file.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import type { UsageFilters } from './usage-data.ts';
import { periodTimes } from './usage-period.ts';

interface CsvButtonProps {
  readonly integration: string;
  readonly filters: UsageFilters;
}

/** Saves the usage records of the period as a file. */
export function CsvButton({ integration, filters: { period, member, agent, model } }: CsvButtonProps) {
  const download = useMutation({
    mutationFn: async () => {
      const answer = await api().usage.csv({
        apiIntegrationId: integration,
        ...periodTimes(period),
        consumerId: member,
      });
      saveFile(await answer.blob(), `usage-${period.from}-to-${period.to}.csv`);
    },
  });
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
        <span className="small muted">
          One row for each run and each adjustment of the period{member !== undefined && ' and the member'}.
          {(agent ?? model) !== undefined && ' The file has all agents and models.'}
        </span>
      </div>
      {download.error !== null && <ErrorNotice error={download.error} />}
    </div>
  );
}
