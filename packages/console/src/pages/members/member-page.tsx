import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Loading } from '../../ui/feedback.tsx';
import { Page } from '../../ui/page.tsx';
import { ErasureView } from './erasure-view.tsx';
import { isMemberMissing, memberQuery } from './member-queries.ts';
import { MemberView } from './member-view.tsx';

export function MemberPage() {
  const { integration, member } = useParams({ from: '/signed-in/integrations/$integration/members/$member' });
  // The page's state must not move to another member.
  return <OneMember key={`${integration} ${member}`} integration={integration} consumerId={member} />;
}

interface OneMemberProps {
  readonly integration: string;
  readonly consumerId: string;
}

function OneMember({ integration, consumerId }: OneMemberProps) {
  const [isErased, setErased] = useState(false);
  const { data, error, refetch } = useQuery({ ...memberQuery(integration, consumerId), enabled: !isErased });
  if (isErased || isMemberMissing(error)) return <ErasureView integration={integration} consumerId={consumerId} />;
  if (data !== undefined) {
    return <MemberView integration={integration} member={data} onErased={() => setErased(true)} />;
  }
  return (
    <Page title="Member">
      {error === null ? <Loading what="the member" /> : <ErrorNotice error={error} onRetry={() => void refetch()} />}
    </Page>
  );
}
