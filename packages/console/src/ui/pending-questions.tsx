import type { Question } from '@runwire/client';
import type { ReactNode } from 'react';
import { formatJson } from '../lib/format.ts';
import { shorten } from '../lib/shorten.ts';
import { JsonView } from './json-view.tsx';

interface PendingQuestionsProps {
  readonly questions: readonly Question[];
  /** The link to the page that answers them. */
  readonly action: ReactNode;
}

/** The open questions of a run or a chat. */
export function PendingQuestions({ questions, action }: PendingQuestionsProps) {
  return (
    <div className="notice notice-warn stack-tight">
      <strong>{questions.length === 1 ? 'A call waits for an answer.' : 'Calls wait for an answer.'}</strong>
      {questions.map((question) => (
        <div key={question.questionId} className="stack-tight">
          <p>
            <bdi>{shorten(question.agent)}</bdi>{' '}
            {question.kind === 'approval' ? 'asks for an approval of' : 'asks the caller to run'}{' '}
            <code>
              <bdi>{shorten(question.tool)}</bdi>
            </code>
            .
          </p>
          <JsonView text={formatJson(question.arguments)} label={`arguments of ${shorten(question.tool)}`} isRepeated />
        </div>
      ))}
      <div>{action}</div>
    </div>
  );
}
