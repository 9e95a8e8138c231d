import type { WebhookEndpoint } from '@runwire/client';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { Time } from '../../ui/time.tsx';

export function EndpointDetails({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const { endpointId, url, events, description, failingSince, createdAt, updatedAt } = endpoint;
  return (
    <>
      <StateNotice endpoint={endpoint} />
      <section className="card stack-tight" aria-labelledby="details">
        <h2 id="details">Details</h2>
        <dl className="definition">
          <dt>Address</dt>
          <dd>{url === null ? 'none; deliveries can be read and are not posted' : <bdi>{url}</bdi>}</dd>
          <dt>Events</dt>
          <dd>{events.includes('*') ? 'all' : events.join(', ')}</dd>
          <dt>Description</dt>
          <dd>{description === null ? <Nothing /> : <bdi>{description}</bdi>}</dd>
          <dt>Failing since</dt>
          <dd>{failingSince === null ? <Nothing /> : <Time time={failingSince} />}</dd>
          <dt>Endpoint id</dt>
          <dd className="row">
            <code>{endpointId}</code> <CopyButton text={endpointId} label="Copy endpoint id" />
          </dd>
          <dt>Created</dt>
          <dd>
            <Time time={createdAt} />
          </dd>
          <dt>Changed</dt>
          <dd>
            <Time time={updatedAt} />
          </dd>
        </dl>
      </section>
    </>
  );
}

/** What is wrong, and what to do. */
function StateNotice({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const { active, disabledReason, failingSince } = endpoint;
  const since = failingSince !== null && (
    <>
      {' '}
      Every attempt has failed since <Time time={failingSince} />.
    </>
  );
  if (disabledReason !== null) {
    return (
      <div className="notice notice-bad">
        <strong>
          {disabledReason === 'gone'
            ? 'The server disabled the endpoint, because its receiver answered 410.'
            : 'The server disabled the endpoint after 72 hours of failures.'}
        </strong>
        <p>
          Correct the receiver, choose <em>Activate</em>, and replay the time since then.{since}
        </p>
      </div>
    );
  }
  if (!active) {
    return (
      <div className="notice notice-warn">
        <strong>The endpoint is paused.</strong>
        <p>Events are stored as skipped deliveries. Activate the endpoint, then replay the time of the pause.</p>
      </div>
    );
  }
  if (failingSince === null) return null;
  return (
    <div className="notice notice-bad">
      <strong>The receiver does not accept events.</strong>
      <p>
        Each event is tried ten times in three days.{since} After 72 hours the endpoint is disabled. Open a delivery to
        see the answer.
      </p>
    </div>
  );
}
