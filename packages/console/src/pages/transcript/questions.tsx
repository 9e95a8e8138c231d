import type { Answer, Question } from '@runwire/client';
import { type FormEvent, useState } from 'react';
import { formatJson } from '../../lib/format.ts';
import { shorten } from '../../lib/shorten.ts';
import { CheckField, Fields, SelectField, TextAreaField, TextField } from '../../ui/form.tsx';
import { LongCode } from './parts.tsx';
import './questions.css';

/** What the form shows of a question. */
type ShownQuestion = Pick<Question, 'questionId' | 'kind' | 'agent' | 'tool' | 'arguments'>;

interface QuestionsProps {
  readonly questions: readonly ShownQuestion[];
  /** If it rejects, the form can be sent again. */
  readonly onAnswer: (answers: readonly Answer[]) => unknown;
}

/** A correction declines the call, and its reason tells the agent what to change. */
const DECISIONS = [
  { value: 'approve', label: 'Approve' },
  { value: 'correct', label: 'Ask for a change' },
  { value: 'decline', label: 'Decline' },
];

/** The questions with which a run ended. The next run gets all answers together. */
export function Questions({ questions, onAnswer }: QuestionsProps) {
  const [isSent, setSent] = useState(false);
  const isSingle = questions.length === 1 && questions[0]?.kind === 'approval';
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isSent) return;
    const submitter = (event.nativeEvent as SubmitEvent).submitter as HTMLButtonElement | null;
    const fields = new Fields(new FormData(event.currentTarget, submitter));
    if (!explainsCorrections(questions, fields, event.currentTarget)) return;
    setSent(true);
    Promise.resolve(onAnswer(questions.map((question) => toAnswer(question, fields)))).catch(() => setSent(false));
  };
  return (
    <form className="notice notice-warn questions" onSubmit={submit}>
      {questions.map((question) => (
        <fieldset key={question.questionId}>
          <legend>
            {question.kind === 'approval' ? 'Approve the call of ' : 'Give the output of '}
            <code>{shorten(question.tool, 100)}</code>?
          </legend>
          <p className="muted">
            <bdi>{question.agent}</bdi> waits for this. A new message declines it.
          </p>
          <LongCode code={formatJson(question.arguments)} label={`arguments of ${shorten(question.tool, 100)}`} />
          <QuestionFields question={question} isSingle={isSingle} />
        </fieldset>
      ))}
      <div className="row">
        {isSingle ? (
          DECISIONS.map(({ value, label }) => (
            <button
              key={value}
              type="submit"
              name={getName(questions[0] as ShownQuestion, 'decision')}
              value={value}
              className={value === 'approve' ? 'button button-primary' : 'button'}
              aria-disabled={isSent}
            >
              {label}
            </button>
          ))
        ) : (
          <button type="submit" className="button button-primary" aria-disabled={isSent}>
            Send answers
          </button>
        )}
      </div>
    </form>
  );
}

const getName = ({ questionId }: ShownQuestion, field: string) => `${questionId} ${field}`;

function QuestionFields({ question, isSingle }: { readonly question: ShownQuestion; readonly isSingle: boolean }) {
  if (question.kind === 'tool') {
    return (
      <>
        <TextAreaField label="Output" name={getName(question, 'output')} rows={3} required />
        <CheckField label="The call failed" name={getName(question, 'failed')} />
      </>
    );
  }
  return (
    <>
      {!isSingle && <SelectField label="Decision" name={getName(question, 'decision')} choices={DECISIONS} />}
      <TextField
        label="Reason (optional)"
        name={getName(question, 'reason')}
        maxLength={2000}
        onInput={({ currentTarget }) => currentTarget.setCustomValidity('')}
      />
    </>
  );
}

/** False if a correction does not tell what to change. Then the browser shows this at the field. */
function explainsCorrections(questions: readonly ShownQuestion[], fields: Fields, form: HTMLFormElement): boolean {
  const unexplained = questions.find(
    (question) =>
      fields.text(getName(question, 'decision')) === 'correct' && fields.text(getName(question, 'reason')) === '',
  );
  if (unexplained === undefined) return true;
  const reason = form.elements.namedItem(getName(unexplained, 'reason')) as HTMLInputElement;
  reason.setCustomValidity('Write what the agent must change.');
  reason.reportValidity();
  return false;
}

function toAnswer(question: ShownQuestion, fields: Fields): Answer {
  const { questionId, kind } = question;
  if (kind === 'tool') {
    const output = fields.exact(getName(question, 'output'));
    return { questionId, output, ...(fields.checked(getName(question, 'failed')) ? { failed: true } : {}) };
  }
  const reason = fields.optional(getName(question, 'reason'));
  const approve = fields.text(getName(question, 'decision')) === 'approve';
  return { questionId, approve, reason };
}
