import type { StoredSummary } from '@runwire/server/src/domain/run/step.ts';
import { rows } from './tampered-store.ts';

/** Summaries are read with other content than they have. */
const changeSummaries = (change: Partial<StoredSummary>) =>
  rows('summary of run', (found) =>
    found.map((row) => {
      const record = JSON.parse(String(row.record_json));
      return { ...row, record_json: JSON.stringify({ ...record, summary: { ...record.summary, ...change } }) };
    }),
  );

/** No turn is covered, so that all turns are too long again. */
const summarizeEveryTurn = () => changeSummaries({ end: 0 });

const forgetSummary = () => changeSummaries({ text: 'Nothing.' });

export const SUMMARY_FAULTS = { 'summarize-every-turn': summarizeEveryTurn, 'forget-summary': forgetSummary };
