import type { Chat } from '@runwire/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api } from '../../app/api.ts';
import { shorten } from '../../lib/shorten.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { May } from '../../ui/may.tsx';
import { Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';

/** The tools whose calls do not ask in the chat. */
export function AllowedTools({ chat: { apiIntegrationId, chatId, approvals } }: { readonly chat: Chat }) {
  const client = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: (tool: string) => {
      const kept = approvals.filter((one) => one.tool !== tool).map((one) => ({ tool: one.tool }));
      return api().chats.update({ apiIntegrationId, chatId, approvals: kept });
    },
    onSuccess: async (_, tool) => {
      await client.invalidateQueries({ queryKey: ['chats', apiIntegrationId] });
      notify(`Calls of ${shorten(tool)} in this chat ask again.`);
    },
  });
  if (approvals.length === 0) return null;
  return (
    <section className="card stack-tight" aria-labelledby="allowed-tools">
      <h2 id="allowed-tools">Allowed in this chat</h2>
      <ul className="plain-list">
        {approvals.map(({ tool, by, at }) => (
          <li key={tool} className="row">
            <span>
              <code>
                <bdi>{shorten(tool)}</bdi>
              </code>{' '}
              by <bdi>{shorten(by.name ?? by.id ?? by.kind)}</bdi>, <Time time={at} />
            </span>
            <May call="updateChat">
              <button
                type="button"
                className="button button-small"
                aria-label={`Ask again before calls of ${shorten(tool)}`}
                aria-disabled={isPending}
                onClick={() => {
                  if (!isPending) mutate(tool);
                }}
              >
                Ask again
              </button>
            </May>
          </li>
        ))}
      </ul>
      {error !== null && <ErrorNotice error={error} />}
    </section>
  );
}
