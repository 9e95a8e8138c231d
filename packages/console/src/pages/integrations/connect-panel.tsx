import type { Integration } from '@runwire/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { publicApiUrl } from '../../app/addresses.ts';
import { api } from '../../app/api.ts';
import type { CodeLanguage } from '../../lib/code-language.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Loading } from '../../ui/feedback.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { type CompatibleSample, compatibleSamples } from './compatible-snippets.ts';
import { curlSnippet, pythonSnippet, typescriptSnippet } from './snippets.ts';

/** Used in the samples until a member is registered. */
const SAMPLE_MEMBER = 'user-1';

interface ConnectPanelProps {
  readonly integration: Integration;
}

/** Programs that call the integration, ready to paste. */
export function ConnectPanel({
  integration: { apiIntegrationId, allowances, textOnly, compatibleApis },
}: ConnectPanelProps) {
  const needsMember = allowances !== null;
  const { data, error, refetch } = useQuery({
    queryKey: ['first-member', apiIntegrationId],
    queryFn: async ({ signal }) => {
      const { items } = await api().members.list({ apiIntegrationId, limit: 50 }, { signal }).page();
      return items.find(({ active }) => active)?.consumerId ?? null;
    },
    enabled: needsMember,
  });
  if (needsMember && error !== null) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (needsMember && data === undefined) return <Loading what="the samples" />;
  const member = needsMember ? (data ?? SAMPLE_MEMBER) : null;
  const target = { url: publicApiUrl, integration: apiIntegrationId };
  const request = { message: 'Hello', ...(member !== null && { consumerId: member }) };
  const input = { ...target, request };
  const compatible = compatibleSamples({ ...target, member }).filter(({ api }) =>
    compatibleApis.some((name) => name === api),
  );
  return (
    <div className="connect">
      <KeySample integration={apiIntegrationId} />
      {needsMember && (
        <div className="notice">
          <strong>Every request names a member.</strong>
          <p>
            Allowances are on, so a request needs <code>consumerId</code> and <code>usageRequestId</code>.{' '}
            {data === null ? (
              <>
                No member is active yet: register <code>{SAMPLE_MEMBER}</code> on the page{' '}
                <MembersLink integration={apiIntegrationId} /> first.
              </>
            ) : (
              <>
                The samples use a member of the page <MembersLink integration={apiIntegrationId} />.
              </>
            )}
          </p>
        </div>
      )}
      <Sample title="curl" code={curlSnippet(input)} language="bash" label="curl sample">
        <p>
          {textOnly ? 'The answer arrives as plain text.' : 'The answer arrives as a stream of events.'} Each request
          has its own <code>usageRequestId</code>; the same one never runs twice.
        </p>
      </Sample>
      <Sample title="TypeScript" code={typescriptSnippet(input)} language="typescript" label="TypeScript sample">
        <p>
          Run <code>npm run build</code> in a clone of Runwire, and{' '}
          <code>npm run install-into -- …/your-project client</code>. Save the sample as <code>hello.mts</code>, and
          start it with <code>node hello.mts</code> (Node 22.18 or newer).
        </p>
      </Sample>
      <Sample title="Python" code={pythonSnippet(input)} language="python" label="Python sample">
        <p>
          Install it in a clone of Runwire with <code>pip install ./packages/client-python</code>, save the sample as{' '}
          <code>hello.py</code>, and start it with <code>python3 hello.py</code>.
        </p>
      </Sample>
      {compatible.length > 0 && <OtherClients samples={compatible} />}
    </div>
  );
}

/** Sets the key for the samples: a new key, or the person's own. */
function KeySample({ integration }: { readonly integration: string }) {
  const client = useQueryClient();
  const key = useMutation({
    mutationFn: () => api().keys.create({ name: `Connect ${integration}`.slice(0, 200) }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['keys'] }),
  });
  const code = `export RUNWIRE_API_KEY='${key.data?.apiKey ?? '<your key>'}'`;
  return (
    <Sample title="Your key" code={code} language="bash" label="command that sets the key">
      {key.data === undefined ? (
        <div className="stack-tight">
          <p>
            Create a key here, and all samples run as they are. Or use one of the page <Link to="/keys">API keys</Link>.
          </p>
          <div>
            <button
              type="button"
              className="button"
              aria-disabled={key.isPending}
              onClick={() => !key.isPending && key.mutate()}
            >
              {key.isPending ? 'Creating…' : 'Create a key for the samples'}
            </button>
          </div>
          {key.error !== null && <ErrorNotice error={key.error} />}
        </div>
      ) : (
        <p>
          This key is shown only now. Keep it on your server: a page or an app gets client tokens instead. Revoke it on
          the page <Link to="/keys">API keys</Link>.
        </p>
      )}
    </Sample>
  );
}

interface OtherClientsProps {
  readonly samples: readonly CompatibleSample[];
}

/** Clients that people have already: each API has its own base URL. */
function OtherClients({ samples }: OtherClientsProps) {
  return (
    <div className="stack-tight">
      <h2>Clients that you have already</h2>
      <p className="muted">
        Give these clients a base URL and your key. Their runs count for members, allowances, chats and usage like all
        other runs.
      </p>
      <Tabs
        label="Compatible APIs"
        tabs={samples.map(({ api, title, clients, baseUrl, code, language }) => ({
          id: api,
          title,
          content: (
            <div className="stack-tight">
              <p className="muted">For {clients}.</p>
              <CodeBlock code={baseUrl} label={`base URL for ${title}`} />
              <CodeBlock code={code} language={language} label={`${title} sample`} />
            </div>
          ),
        }))}
      />
    </div>
  );
}

function MembersLink({ integration }: { readonly integration: string }) {
  return (
    <Link to="/integrations/$integration/members" params={{ integration }}>
      Members
    </Link>
  );
}

interface SampleProps {
  readonly title: string;
  readonly code: string;
  readonly language: CodeLanguage;
  readonly label: string;
  readonly children: ReactNode;
}

function Sample({ title, code, language, label, children }: SampleProps) {
  return (
    <div className="stack-tight">
      <h2>{title}</h2>
      <div className="muted">{children}</div>
      <CodeBlock code={code} language={language} label={label} />
    </div>
  );
}
