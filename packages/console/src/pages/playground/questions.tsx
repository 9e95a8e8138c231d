import type { Answer, Question } from '@runwire/client';
import { type FormEvent, useState } from 'react';
import { formatJson } from '../../lib/format.ts';
import { shorten } from '../../lib/shorten.ts';
import { CheckField, Fields, SelectField, TextAreaField, TextField } from '../../ui/form.tsx';
import { LongCode } from './parts.tsx';

interface QuestionsProps {
  readonly questions: readonly Question[];
  readonly onAnswer: (answers: readonly Answer[]) => void;
}

const DECISIONS = [
  { value: 'approve', label: 'Approve' },
  { value: 'decline', label: 'Decline' },
];

/** The questions with which a run ended. The next run gets all answers together. */
export function Questions({ questions, onAnswer }: QuestionsProps) {
  const [isSent, setSent] = useState(false);
  const isSingle = questions.length === 1 && questions[0]?.kind === 'approval';
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isSent) return;
    setSent(true);
    const submitter = (event.nativeEvent as SubmitEvent).submitter as HTMLButtonElement | null;
    const fields = new Fields(new FormData(event.currentTarget, submitter));
    onAnswer(questions.map((question) => toAnswer(question, fields)));
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
              name={getName(questions[0] as Question, 'decision')}
              value={value}
              className={value === 'approve' ? 'button button-primary' : 'button'}
            >
              {label}
            </button>
          ))
        ) : (
          <button type="submit" className="button button-primary">
            Send answers
          </button>
        )}
      </div>
    </form>
  );
}

const getName = ({ questionId }: Question, field: string) => `${questionId} ${field}`;

function QuestionFields({ question, isSingle }: { readonly question: Question; readonly isSingle: boolean }) {
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
      <TextField label="Reason (optional)" name={getName(question, 'reason')} maxLength={2000} />
    </>
  );
}

function toAnswer(question: Question, fields: Fields): Answer {
  const { questionId, kind } = question;
  if (kind === 'tool') {
    const output = fields.exact(getName(question, 'output'));
    return { questionId, output, ...(fields.checked(getName(question, 'failed')) ? { failed: true } : {}) };
  }
  const reason = fields.optional(getName(question, 'reason'));
  const approve = fields.text(getName(question, 'decision')) === 'approve';
  return { questionId, approve, reason };
}
