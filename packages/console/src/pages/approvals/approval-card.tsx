import { type Answer, RunwireError } from '@runwire/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api } from '../../app/api.ts';
import { QUESTIONS_KEY } from '../../app/open-questions.ts';
import { shorten } from '../../lib/shorten.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { MemberName } from '../../ui/member-name.tsx';
import { Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';
import { Questions } from '../transcript/questions.tsx';
import type { QuestionGroup } from './group-questions.ts';

/** What a person decided, and the run that continues. */
export interface SentAnswer {
  readonly integration: string;
  readonly runId: string;
}

/** The codes that refuse a second answer. */
const ANSWERED = /^(question_not_pending|usage_request_id_reused)$/;

interface ApprovalCardProps {
  readonly group: QuestionGroup;
  readonly integrationName: string;
  readonly onAnswered: (sent: SentAnswer) => void;
}

/** The questions of one run, and the form that answers them. */
export function ApprovalCard({ group, integrationName, onAnswered }: ApprovalCardProps) {
  const { questions } = group;
  const [{ apiIntegrationId: integration, chatId, consumerId, runId, askedAt }] = questions;
  const client = useQueryClient();
  const { mutateAsync, error } = useMutation({
    mutationFn: (answers: readonly Answer[]) =>
      api().questions.answer({ apiIntegrationId: integration, chatId, answers: [...answers] }),
    onSuccess: (run) => onAnswered({ integration, runId: run.runId }),
    onError: (refusal) => {
      if (refusal instanceof RunwireError && ANSWERED.test(refusal.code)) {
        notify('The call was answered before, or a newer message arrived. The tab Answered shows who answered.');
      }
    },
    onSettled: () => client.invalidateQueries({ queryKey: QUESTIONS_KEY }),
  });
  return (
    <article className="card stack" aria-label={`Questions of the chat ${shorten(chatId, 80)}`}>
      <p className="row small muted">
        <Link to="/integrations/$integration" params={{ integration }}>
          <bdi>{shorten(integrationName)}</bdi>
        </Link>
        <Link to="/integrations/$integration/chats/$chat" params={{ integration, chat: chatId }}>
          Chat <bdi>{shorten(chatId, 80)}</bdi>
        </Link>
        {consumerId !== null && (
          <Link to="/integrations/$integration/members/$member" params={{ integration, member: consumerId }}>
            Member <MemberName integration={integration} consumerId={consumerId} />
          </Link>
        )}
        <Link to="/integrations/$integration/runs/$run" params={{ integration, run: runId }}>
          Run
        </Link>
        <span>
          asked <Time time={askedAt} age />
        </span>
      </p>
      <Questions integration={integration} questions={questions} onAnswer={mutateAsync} />
      {error !== null && <ErrorNotice error={error} />}
    </article>
  );
}
