import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { EmptyState, Loading } from '../../ui/feedback.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { erasureQuery, isMemberMissing } from './member-queries.ts';

interface ErasureViewProps {
  readonly integration: string;
  readonly consumerId: string;
}

/** Shown if no member has the id: its erasure's state, if there is one. */
export function ErasureView({ integration, consumerId }: ErasureViewProps) {
  const { data: erasure, error, refetch } = useQuery(erasureQuery(integration, consumerId));
  const isUnknown = isMemberMissing(error);
  return (
    <Page
      title={isUnknown ? 'Unknown member' : 'Erased member'}
      lead={
        <code>
          <bdi>{consumerId}</bdi>
        </code>
      }
      actions={
        <Link className="button" to="/integrations/$integration/members" params={{ integration }}>
          All members
        </Link>
      }
    >
      {isUnknown && (
        <EmptyState title="No member has this id">
          <p>Check the id, or register the member on the page Members.</p>
        </EmptyState>
      )}
      {erasure === undefined && error === null && <Loading what="the state of the member" />}
      {error !== null && !isUnknown && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {erasure !== undefined && (
        <div className={erasure.finishedAt === null ? 'notice notice-warn' : 'notice notice-good'} role="status">
          <strong>{erasure.finishedAt === null ? 'The member is being erased.' : 'The member is erased.'}</strong>
          <p>
            {erasure.finishedAt === null
              ? 'Active runs are stopped first; then chats, messages, attachments and files are deleted. You may leave this page.'
              : 'Nothing of this person is stored any more. Usage records are kept under another id.'}
          </p>
          <p className="small muted">
            Started <Time time={erasure.startedAt} />
            {erasure.finishedAt !== null && (
              <>
                , finished <Time time={erasure.finishedAt} />
              </>
            )}
            .
          </p>
        </div>
      )}
    </Page>
  );
}
