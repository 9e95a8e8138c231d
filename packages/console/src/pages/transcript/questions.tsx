import type { Answer, Question } from '@runwire/client';
import { type FormEvent, useState } from 'react';
import { shorten } from '../../lib/shorten.ts';
import { CheckField, Fields, SelectField, TextAreaField, TextField } from '../../ui/form.tsx';
import { CallArguments, changedArguments } from './correction.tsx';
import './questions.css';

/** What the form shows of a question. */
type ShownQuestion = Pick<
  Question,
  'questionId' | 'kind' | 'agent' | 'tool' | 'arguments' | 'editable' | 'rememberable'
>;

interface QuestionsProps {
  readonly integration: string;
  readonly questions: readonly ShownQuestion[];
  /** If it rejects, the form can be sent again. */
  readonly onAnswer: (answers: readonly Answer[]) => unknown;
}

/** If the person asks for a change, the call is declined, and the reason tells the agent what to change. */
const DECISIONS = [
  { value: 'approve', label: 'Approve' },
  { value: 'change', label: 'Ask for a change' },
  { value: 'decline', label: 'Decline' },
];

/** The questions with which a run ended. The next run gets all answers together. */
export function Questions({ integration, questions, onAnswer }: QuestionsProps) {
  const [isSent, setSent] = useState(false);
  const isSingle = questions.length === 1 && questions[0]?.kind === 'approval';
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isSent) return;
    const submitter = (event.nativeEvent as SubmitEvent).submitter as HTMLButtonElement | null;
    const fields = new Fields(new FormData(event.currentTarget, submitter));
    if (!explainsChanges(questions, fields, event.currentTarget)) return;
    if (hasWrongArguments(questions, fields, event.currentTarget)) return;
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
          <CallArguments integration={integration} call={question} name={getName(question, 'arguments')} />
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
      {question.rememberable && (
        <CheckField
          label="Allow in this chat"
          name={getName(question, 'remember')}
          hint={`If the call is approved, further calls of ${shorten(question.tool, 100)} in this chat do not ask.`}
        />
      )}
    </>
  );
}

/** False if the person asks for a change and does not tell which. Then the browser shows this at the field. */
function explainsChanges(questions: readonly ShownQuestion[], fields: Fields, form: HTMLFormElement): boolean {
  const unexplained = questions.find(
    (question) =>
      fields.text(getName(question, 'decision')) === 'change' && fields.text(getName(question, 'reason')) === '',
  );
  if (unexplained === undefined) return true;
  const reason = form.elements.namedItem(getName(unexplained, 'reason')) as HTMLInputElement;
  reason.setCustomValidity('Write what the agent must change.');
  reason.reportValidity();
  return false;
}

/** True if an approved call has arguments that the tool does not accept. Then their field gets the focus. */
function hasWrongArguments(questions: readonly ShownQuestion[], fields: Fields, form: HTMLFormElement): boolean {
  const wrong = questions
    .filter((question) => fields.text(getName(question, 'decision')) === 'approve')
    .map((question) => form.elements.namedItem(getName(question, 'arguments')) as HTMLTextAreaElement | null)
    .find((field) => field?.ariaInvalid === 'true');
  wrong?.focus();
  return wrong !== undefined;
}

function toAnswer(question: ShownQuestion, fields: Fields): Answer {
  const { questionId, kind } = question;
  if (kind === 'tool') {
    const output = fields.exact(getName(question, 'output'));
    return { questionId, output, ...(fields.checked(getName(question, 'failed')) ? { failed: true } : {}) };
  }
  const reason = fields.optional(getName(question, 'reason'));
  const approve = fields.text(getName(question, 'decision')) === 'approve';
  if (!approve) return { questionId, approve, reason };
  return {
    questionId,
    approve,
    reason,
    arguments: changedArguments(question, fields.exact(getName(question, 'arguments'))),
    ...(fields.checked(getName(question, 'remember')) && { remember: 'chat' }),
  };
}
