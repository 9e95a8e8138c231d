import type { RunRecord } from '@runwire/client';
import { CodeBlock } from '../../ui/code-block.tsx';
import { InfoDialog } from '../../ui/info-dialog.tsx';

interface KeepEvalDialogProps {
  readonly run: RunRecord;
  readonly onClose: () => void;
}

/** The command that writes the run into the evals of its agency. The console cannot write the files of agencies. */
export function KeepEvalDialog({ run: { runId, apiIntegrationId }, onClose }: KeepEvalDialogProps) {
  return (
    <InfoDialog title="Keep as an eval" onClose={onClose}>
      <p>
        This command adds the run to the evals of its agency: the message, the earlier turns, the answer, and the calls
        with their outcomes. Run it on the machine that has the agency's folder. The files contain what people wrote.
      </p>
      <CodeBlock
        code={`runwire evals record ${runId} --integration ${apiIntegrationId}`}
        label="command"
        language="bash"
      />
    </InfoDialog>
  );
}
