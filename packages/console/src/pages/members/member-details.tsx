import type { Member } from '@runwire/client';
import { formatJson } from '../../lib/format.ts';
import { JsonView } from '../../ui/json-view.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { Time } from '../../ui/time.tsx';

export function MemberDetails({ member }: { readonly member: Member }) {
  const { consumerId, name, folder, metadata, createdAt, updatedAt } = member;
  return (
    <section className="card" aria-labelledby="details">
      <h2 id="details">Details</h2>
      <dl className="definition">
        <dt>Id</dt>
        <dd>
          <code>
            <bdi>{consumerId}</bdi>
          </code>
        </dd>
        <dt>Name</dt>
        <dd>{name === null ? <Nothing /> : <bdi>{name}</bdi>}</dd>
        <dt>Folder</dt>
        <dd>
          <code>{folder}</code>
        </dd>
        <dt>Registered</dt>
        <dd>
          <Time time={createdAt} />
        </dd>
        <dt>Updated</dt>
        <dd>
          <Time time={updatedAt} />
        </dd>
      </dl>
      <h3>Metadata</h3>
      {Object.keys(metadata).length === 0 ? <Nothing /> : <JsonView text={formatJson(metadata)} label="metadata" />}
    </section>
  );
}
