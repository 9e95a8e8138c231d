import { useQuery } from '@tanstack/react-query';
import { meQuery } from '../../app/queries.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Loading } from '../../ui/feedback.tsx';
import { Page } from '../../ui/page.tsx';
import { NameForm } from './name-form.tsx';
import { PasswordForm } from './password-form.tsx';
import './profile.css';
import { SignOutEverywhere } from './sign-out-everywhere.tsx';

export function ProfilePage() {
  const { data: me, error, refetch } = useQuery(meQuery);
  return (
    <Page title="Profile" lead="Who you are on this server, and how you sign in.">
      {me === undefined && error === null && <Loading what="your profile" />}
      {me === undefined && error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {me !== undefined && (
        <div className="stack-wide profile-parts">
          <NameForm me={me.person ?? me} />
          <PasswordForm email={(me.person ?? me).email} />
          <SignOutEverywhere />
        </div>
      )}
    </Page>
  );
}
