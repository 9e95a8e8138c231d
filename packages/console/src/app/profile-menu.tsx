import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { formatZone } from '../lib/format.ts';
import { Icon } from '../ui/icons.tsx';
import { Menu, MenuChoices, MenuItem, MenuLabel, MenuLine } from '../ui/menu.tsx';
import { apiUrl } from './addresses.ts';
import { meQuery } from './queries.ts';
import { setTheme, THEMES, useTheme } from './theme.ts';
import { useSignOut } from './use-sign-out.ts';

const THEME_NAMES = { system: 'Colours of the system', light: 'Light', dark: 'Dark' } as const;
const CHOICES = THEMES.map((value) => ({ value, label: THEME_NAMES[value] }));

/** The menu of the person: everything that is not about the owner. */
export function ProfileMenu({ onHelp }: { readonly onHelp: () => void }) {
  const { data: me } = useQuery(meQuery);
  const theme = useTheme();
  const leave = useSignOut();
  const person = me?.person?.name ?? me?.person?.email ?? 'Profile';
  return (
    <Menu
      trigger={
        <button type="button" className="button profile" aria-label={`Profile of ${person}`}>
          <Icon name="profile" />
          <span className="ellipsis">{person}</span>
          <span aria-hidden="true">▾</span>
        </button>
      }
    >
      {me?.person?.email != null && <MenuLabel>{me.person.email}</MenuLabel>}
      <MenuItem isLink>
        <Link to="/profile">Profile and password</Link>
      </MenuItem>
      <MenuItem onSelect={onHelp}>Keyboard shortcuts</MenuItem>
      <MenuItem isLink>
        <a href={new URL('docs', apiUrl).href} target="_blank" rel="noreferrer">
          API reference
        </a>
      </MenuItem>
      <MenuLine />
      <MenuChoices label="Theme" value={theme} choices={CHOICES} onChange={setTheme} />
      <MenuLine />
      <MenuLabel>Times are in {formatZone()}.</MenuLabel>
      <MenuItem onSelect={() => void leave()}>Sign out</MenuItem>
    </Menu>
  );
}
