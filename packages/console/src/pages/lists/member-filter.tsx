import { api } from '../../app/api.ts';
import { MemberName } from '../../ui/member-name.tsx';
import type { SearchFilter } from '../../ui/search-field.tsx';

const MAX_SUGGESTIONS = 8;

/** Finds members by the start of the id, or of a word of the name. */
export const memberFilter = (apiIntegrationId: string): SearchFilter => ({
  name: 'member',
  detail: 'name or id',
  find: async (typed, signal) => {
    const q = typed.trim() === '' ? {} : { q: typed.trim() };
    const { items } = await api()
      .members.list({ apiIntegrationId, limit: MAX_SUGGESTIONS, ...q }, { signal })
      .page();
    return items.map(({ consumerId, name }) => ({
      value: consumerId,
      label: name ?? consumerId,
      ...(name !== null && { detail: consumerId }),
    }));
  },
  show: (consumerId) => <MemberName integration={apiIntegrationId} consumerId={consumerId} />,
});
