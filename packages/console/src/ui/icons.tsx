/** Outlines on a grid of 16 × 16, drawn with the colour of the text beside them. */
const PATHS = {
  home: 'M2.5 7 8 2.5 13.5 7v6.5H10V9.5H6v4H2.5z',
  approvals: 'M3 2.5h10v11H3zM5.5 8l2 2 3.5-4',
  integrations: 'M5.5 2v4m5-4v4M3.5 6h9v1.5a4.5 4.5 0 0 1-9 0zM8 12v2.5',
  agencies:
    'M8 2.5a2 2 0 1 1 0 4 2 2 0 0 1 0-4zM3.5 10a1.75 1.75 0 1 1 0 3.5 1.75 1.75 0 0 1 0-3.5zm9 0a1.75 1.75 0 1 1 0 3.5 1.75 1.75 0 0 1 0-3.5zM8 6.5v2M3.5 10V8.5h9V10',
  overview: 'M2.5 13.5v-5h3v5zm4 0v-11h3v11zm4 0V6h3v7.5z',
  playground: 'M4.5 2.5v11l9-5.5z',
  chats: 'M2.5 3h11v8H7l-3 2.5V11H2.5z',
  runs: 'M2 8h3l2-5 2.5 10 2-5H14',
  members:
    'M6 2.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5zM1.5 13.5c0-3 2-4.5 4.5-4.5s4.5 1.5 4.5 4.5M11 3a2.25 2.25 0 0 1 0 4.25M12 9.5c1.5.5 2.5 1.75 2.5 4',
  usage: 'M2.5 2.5v11h11M5 10l2.5-3 2 2 3.5-4.5',
  files: 'M2 4V3h4l1.5 1.5H14v8.5H2z',
  schedules: 'M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zm0 3v3l2 1.5',
  webhooks: 'M2 8h8M7 4.5 10.5 8 7 11.5M13.5 3v10',
  health: 'M8 13.5C4 10.5 2 8.25 2 5.75A3 3 0 0 1 8 4.5a3 3 0 0 1 6 1.25c0 2.5-2 4.75-6 7.75z',
  keys: 'M5 6a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM7.25 7 13 2.5l1 1.25-1.5 1.25L13.5 6.5 12 7.75 10.75 6.25',
  people: 'M8 2.5a2.75 2.75 0 1 1 0 5.5 2.75 2.75 0 0 1 0-5.5zM2.5 14c0-3 2.25-4.5 5.5-4.5s5.5 1.5 5.5 4.5',
  audit: 'M4 2h8v12H4zM6 5h4M6 8h4m-4 3h2',
  owners: 'M2.5 13.5h11M4 13.5v-11h5v11m0-7h3v7M6 5h1M6 7.5h1M6 10h1',
  profile:
    'M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zm0 2.5a2 2 0 1 1 0 4 2 2 0 0 1 0-4zM4 12.25c.75-1.5 2.25-2.25 4-2.25s3.25.75 4 2.25',
  search: 'M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM10.25 10.25 14 14',
  recent: 'M2.5 8a5.5 5.5 0 1 0 1.75-4M2.5 2v2.75h2.75M8 5v3l2 1.25',
  action: 'M9 1.5 3.5 9H8l-1 5.5L12.5 7H8z',
} as const;

export type IconName = keyof typeof PATHS;

/** Screen readers get the text beside it instead. */
export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg className="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
    <path d={PATHS[name]} />
  </svg>
);
