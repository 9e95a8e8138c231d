import type { RunRecord, Step } from '@runwire/client';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useRef, useState } from 'react';
import { changedSearch } from '../../app/search.ts';
import { formatJson } from '../../lib/format.ts';
import { JsonView } from '../../ui/json-view.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { CurrentSteps } from './current-steps.ts';
import { EventsTab } from './events-tab.tsx';
import { PromptTab } from './prompt-tab.tsx';
import { listRerunSteps } from './rerun-steps.ts';
import { RunDetails } from './run-details.tsx';
import { isActive } from './run-state.ts';
import { StepDetails } from './step-details.tsx';
import { toTimeline } from './step-tree.ts';
import { Timeline } from './timeline.tsx';
import { useEventLog } from './use-event-log.ts';
import { useTick } from './use-tick.ts';

interface RunPanesProps {
  readonly run: RunRecord;
  readonly steps: readonly Step[];
}

const TABS = ['details', 'prompt', 'events', 'json'] as const;

/** The two panes of a run: its steps, and the details of what was chosen. On narrow screens one follows the other. */
export function RunPanes({ run, steps }: RunPanesProps) {
  const search = useSearch({ from: '/signed-in/integrations/$integration/runs/$run' });
  const navigate = useNavigate({ from: '/integrations/$integration/runs/$run' });
  useTick(isActive(run));
  const details = useRef<HTMLElement>(null);
  const rows = useMemo(() => toTimeline(steps), [steps]);
  const rerunSteps = useMemo(() => listRerunSteps(run, steps), [run, steps]);
  const chosen = rows.find(({ step }) => String(step.step) === search.step);
  const hasPrompt = chosen?.step.kind === 'model';
  const tab = TABS.find((id) => id === search.tab && (id !== 'prompt' || hasPrompt)) ?? 'details';
  const needsLog = isActive(run) || tab === 'events' || chosen !== undefined;
  const [log, logState] = useEventLog(run, needsLog && !run.chatDeleted);
  const [currentSteps] = useState(() => new CurrentSteps(run.agent));
  const current = run.status === 'running' ? currentSteps.read(log.frames) : [];
  const change = (changed: Partial<Record<keyof typeof search, string>>) =>
    navigate({ search: changedSearch(changed), replace: true, resetScroll: false });
  const choose = async (step: Step | null) => {
    await change({ step: step === null ? '' : String(step.step), ...(tab === 'json' && { tab: '' }) });
    // On narrow screens the details are below the steps.
    if (details.current !== null && details.current.getBoundingClientRect().top > window.innerHeight / 2) {
      details.current.scrollIntoView({ block: 'start' });
    }
  };
  return (
    <div className="run-panes">
      <Timeline
        run={run}
        rows={rows}
        current={current}
        chosen={chosen?.step ?? null}
        search={search}
        onChoose={choose}
        onFilter={change}
      />
      <section ref={details} className="card run-details" aria-label="Details">
        <Tabs
          label="Details of the run"
          value={tab}
          onChange={(id) => void change({ tab: id === 'details' ? '' : id })}
          tabs={[
            {
              id: 'details',
              title: chosen === undefined ? 'Run' : `Step ${chosen.step.step}`,
              content:
                chosen === undefined ? (
                  <RunDetails run={run} steps={steps} log={log} logState={logState} />
                ) : (
                  <StepDetails
                    run={run}
                    canRerun={rerunSteps.has(chosen.step.step)}
                    row={chosen}
                    log={log}
                    logState={logState}
                    onWholeRun={() => void choose(null)}
                  />
                ),
            },
            ...(chosen !== undefined && hasPrompt
              ? [
                  {
                    id: 'prompt',
                    title: 'Prompt',
                    content: <PromptTab integration={run.apiIntegrationId} runId={run.runId} step={chosen.step} />,
                  },
                ]
              : []),
            {
              id: 'events',
              title: 'Events',
              content: (
                <EventsTab
                  run={run}
                  log={log}
                  state={logState}
                  text={search.text ?? ''}
                  onText={(text) => void change({ text })}
                />
              ),
            },
            { id: 'json', title: 'JSON', content: <JsonView text={formatJson(run)} label="run as JSON" /> },
          ]}
        />
      </section>
    </div>
  );
}
