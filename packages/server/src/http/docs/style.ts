/** The style of the API reference, for small and large screens, light and dark. */
export const STYLE = `
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --line: #dde2e9; --paper: #fff; --shade: #f5f7fa; --link: #0b5cad;
  --get: #0b6e4f; --post: #0b5cad; --put: #8a5a00; --patch: #8a5a00; --delete: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ee; --soft: #9aa5b4; --line: #2f3743; --paper: #14181e; --shade: #1c222b; --link: #7ab8ff;
    --get: #5ad1a5; --post: #7ab8ff; --put: #e9b44c; --patch: #e9b44c; --delete: #ff8a80; }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; font: 16px/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; color: var(--ink); background: var(--paper); }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
code, pre { font: 0.875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code { overflow-wrap: anywhere; }
pre { padding: 0.9rem 1rem; overflow-x: auto; background: var(--shade); border: 1px solid var(--line); border-radius: 8px; }
pre code { overflow-wrap: normal; }
nav { padding: 0.75rem 1rem; border-bottom: 1px solid var(--line); background: var(--shade); font-size: 0.9rem; }
nav summary { font-weight: 700; font-size: 1rem; cursor: pointer; }
nav h2 { margin: 1.1rem 0 0.3rem; font-size: 0.78rem; letter-spacing: 0.05em; text-transform: uppercase; }
nav h2 a { color: var(--soft); }
nav ul { margin: 0; padding: 0; list-style: none; }
nav li a { display: flex; gap: 0.5rem; align-items: baseline; padding: 0.22rem 0; color: var(--ink); }
main { max-width: 60rem; padding: 1rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0.5rem 0; }
h1 small { font-size: 0.9rem; font-weight: 400; color: var(--soft); }
main h2 { margin: 2.5rem 0 0.5rem; font-size: 1.35rem; }
article { padding: 1.25rem 0; border-top: 1px solid var(--line); }
h3 { margin: 0 0 0.25rem; font-size: 1.08rem; }
h3 a { color: var(--ink); }
h4 { margin: 1rem 0 0.25rem; font-size: 0.9rem; }
h5 { margin: 0.75rem 0 0.25rem; font-size: 0.85rem; font-weight: 400; color: var(--soft); }
p { margin: 0.4rem 0; }
.path { padding: 0.5rem 0.75rem; background: var(--shade); border: 1px solid var(--line); border-radius: 8px; }
.method { flex: none; min-width: 3.2rem; font: 700 0.72rem/1.5 ui-monospace, Menlo, Consolas, monospace; }
.GET { color: var(--get); } .POST { color: var(--post); } .PUT { color: var(--put); } .PATCH { color: var(--patch); } .DELETE { color: var(--delete); }
.open, .required { font-size: 0.75rem; font-weight: 400; padding: 0.05rem 0.4rem; border: 1px solid var(--line); border-radius: 999px; color: var(--soft); white-space: nowrap; }
.required { color: var(--delete); }
.type, .limit { font-size: 0.85rem; color: var(--soft); }
.fields { margin: 0; padding: 0; list-style: none; border: 1px solid var(--line); border-radius: 8px; }
.fields > li { padding: 0.45rem 0.75rem; border-top: 1px solid var(--line); }
.fields > li:first-child { border-top: 0; }
.fields .fields { margin: 0.4rem 0 0.2rem; }
.fields .name { font-weight: 700; }
.fields div { font-size: 0.92rem; }
.answer { margin: 0.3rem 0; }
details.answer > summary, .schema > summary { cursor: pointer; }
p.answer { padding-left: 1.05rem; }
details.answer[open], .schema[open] { padding-bottom: 0.75rem; }
.schema { padding: 0.35rem 0; border-top: 1px solid var(--line); }
.status { font: 700 0.85rem/1.5 ui-monospace, Menlo, Consolas, monospace; }
.s2 { color: var(--get); } .s4, .s5 { color: var(--delete); }
@media (min-width: 64rem) {
  body { display: grid; grid-template-columns: 20rem minmax(0, 1fr); }
  nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; border-right: 1px solid var(--line); border-bottom: 0; }
  .menu::details-content { content-visibility: visible; }
  .menu > summary { list-style: none; }
  main { padding: 1rem 2.5rem 4rem; }
}
`;
