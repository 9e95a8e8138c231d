import type { RunRecord } from '@runwire/client';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { May } from '../../ui/may.tsx';
import { CancelDialog } from './cancel-dialog.tsx';
import { CompareMenu } from './compare-menu.tsx';
import { RerunButton } from './rerun-button.tsx';
import { isActive } from './run-state.ts';

export function RunActions({ run }: { readonly run: RunRecord }) {
  const [isCancelling, setCancelling] = useState(false);
  const { apiIntegrationId: integration, runId } = run;
  return (
    <>
      {isActive(run) && (
        <May call="cancelRun">
          <button type="button" className="button button-danger" onClick={() => setCancelling(true)}>
            Cancel the run
          </button>
        </May>
      )}
      {!run.chatDeleted && !isActive(run) && (
        <>
          <RerunButton run={run} afterStep={0} />
          <CompareMenu run={run} />
        </>
      )}
      {!run.chatDeleted && (
        <May call="getCompletionV2">
          <Link
            className="button"
            to="/integrations/$integration/playground"
            params={{ integration }}
            search={{ run: runId }}
          >
            Try again in the playground
          </Link>
        </May>
      )}
      {isCancelling && <CancelDialog run={run} onClose={() => setCancelling(false)} />}
    </>
  );
}
