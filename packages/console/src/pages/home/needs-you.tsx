import type { Overview } from '@runwire/client';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { formatAge, formatCount } from '../../lib/format.ts';
import { Prose } from '../../ui/prose.tsx';

/** What only a person can settle. */
export function NeedsYou({ overview }: { readonly overview: Overview }) {
  const items = [...questions(overview), ...agencies(overview), ...others(overview)];
  return (
    <section className="card stack-tight" aria-labelledby="needs-you">
      <h2 id="needs-you">Needs you</h2>
      {items.length === 0 ? (
        <p className="muted">Nothing at the moment.</p>
      ) : (
        <ul className="plain-list stack-tight">
          {items.map(([key, text]) => (
            <li key={key}>{text}</li>
          ))}
        </ul>
      )}
    </section>
  );
}

type Item = readonly [key: string, text: ReactNode];

function questions({ openQuestions }: Overview): Item[] {
  if (openQuestions === 0) return [];
  const waiting = formatCount(openQuestions, 'question waits', 'questions wait');
  return [
    [
      'questions',
      <>
        <Link to="/approvals">{waiting}</Link> for an answer in chats.
      </>,
    ],
  ];
}

const agencies = ({ brokenAgencies, failedMcpServers }: Overview): Item[] => [
  ...brokenAgencies.map(
    ({ agency, error }): Item => [
      `agency ${agency}`,
      <>
        The agency <AgencyLink agency={agency} /> cannot be loaded:{' '}
        <bdi>
          <Prose text={error} />
        </bdi>
      </>,
    ],
  ),
  ...failedMcpServers.map(
    ({ agency, server, error }): Item => [
      `server ${agency} ${server}`,
      <>
        The MCP server <bdi>{server}</bdi> of <AgencyLink agency={agency} /> cannot be used
        {error !== null && (
          <>
            :{' '}
            <bdi>
              <Prose text={error} />
            </bdi>
          </>
        )}
      </>,
    ],
  ),
];

const others = ({ exhaustedMembers, expiringKeys, disabledWebhooks }: Overview): Item[] => [
  ...exhaustedMembers.map(
    ({ apiIntegrationId: integration, consumerId }): Item => [
      `member ${integration} ${consumerId}`,
      <>
        The member{' '}
        <Link to="/integrations/$integration/members/$member" params={{ integration, member: consumerId }}>
          <bdi>{consumerId}</bdi>
        </Link>{' '}
        has used up the allowance.
      </>,
    ],
  ),
  ...expiringKeys.map(
    ({ keyId, name, expiresAt }): Item => [
      `key ${keyId}`,
      <>
        The API key{' '}
        <Link to="/keys">
          <bdi>{name}</bdi>
        </Link>{' '}
        expires {formatAge(expiresAt)}.
      </>,
    ],
  ),
  ...disabledWebhooks.map(
    ({ apiIntegrationId: integration, endpointId }): Item => [
      `webhook ${endpointId}`,
      <>
        A{' '}
        <Link to="/integrations/$integration/webhooks/$endpoint" params={{ integration, endpoint: endpointId }}>
          webhook endpoint
        </Link>{' '}
        was disabled, because posts failed.
      </>,
    ],
  ),
];

function AgencyLink({ agency }: { readonly agency: string }) {
  return (
    <Link to="/agencies/$agency" params={{ agency }}>
      <bdi>{agency}</bdi>
    </Link>
  );
}
