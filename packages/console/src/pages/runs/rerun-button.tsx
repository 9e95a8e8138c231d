import type { RunRecord } from '@runwire/client';
import { useState } from 'react';
import { May } from '../../ui/may.tsx';
import { RerunDialog } from './rerun-dialog.tsx';

interface RerunButtonProps {
  readonly run: RunRecord;
  /** The last step that is kept. 0 if none is. */
  readonly afterStep: number;
}

export function RerunButton({ run, afterStep }: RerunButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <May call="rerunRun">
      <button
        type="button"
        className={afterStep === 0 ? 'button' : 'button button-small'}
        onClick={() => setOpen(true)}
      >
        {afterStep === 0 ? 'Run again' : 'Run again from here'}
      </button>
      {isOpen && <RerunDialog run={run} afterStep={afterStep} onClose={() => setOpen(false)} />}
    </May>
  );
}
