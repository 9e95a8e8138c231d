import { useNavigate, useSearch } from '@tanstack/react-router';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { AnsweredQuestions } from './answered-questions.tsx';
import { OpenQuestions } from './open-questions.tsx';

export function ApprovalsPage() {
  const { tab = 'open' } = useSearch({ from: '/signed-in/approvals' });
  const navigate = useNavigate({ from: '/approvals' });
  return (
    <Page title="Approvals" lead="Calls of agents that wait for an answer, in all your integrations.">
      <Tabs
        label="Questions"
        value={tab}
        onChange={(id) => void navigate({ search: id === 'open' ? {} : { tab: id }, replace: true })}
        tabs={[
          { id: 'open', title: 'Open', content: <OpenQuestions /> },
          { id: 'answered', title: 'Answered', content: <AnsweredQuestions /> },
        ]}
      />
    </Page>
  );
}
