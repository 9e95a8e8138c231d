/* Texts that attack a page that shows them. If one of them runs as a script, it sets the global `hostile`. */

export interface HostileText {
  /** Part of the text, outside all markup: a page that shows the text shows it. */
  readonly mark: string;
  readonly text: string;
}

const RUN = 'window.hostile=1';

const ATTACKS: Readonly<Record<string, string>> = {
  script: `<script>${RUN}</script>`,
  image: `<img src=x onerror="${RUN}">`,
  remote: '<img src="https://evil.example/name.png">',
  svg: `<svg onload="${RUN}"><a xlink:href="javascript:${RUN}">x</a></svg>`,
  frame: `"><iframe srcdoc="<script>parent.hostile=1</script>"></iframe>`,
  style: '</style><style>*{display:none}</style>',
  link: `javascript:${RUN}//`,
  template: `{{constructor.constructor('${RUN}')()}}\${${RUN}}`,
  entity: `&lt;img src=x onerror=${RUN}&gt;&#60;b&#62;`,
  override: '\u202Egnp.exe\u2066\u202D abc',
  isolate: '\u2069\u2069\u202C\u061C\u2067rtl',
  marks: `z${'\u0301\u0489'.repeat(40)}`,
  separators: 'line\u2028paragraph\u2029end\u0085\uFEFF',
};

/** Short enough for every name. Ids and names of files may have them too. */
export const NAMES: readonly HostileText[] = Object.entries(ATTACKS).map(([name, attack]) => ({
  mark: `m-${name}`,
  text: `m-${name} ${attack}`,
}));

/** Only for texts that may have control characters. */
export const CONTROLS: readonly HostileText[] = [
  { mark: 'm-null', text: 'm-null a\u0000b' },
  { mark: 'm-escape', text: 'm-escape \u001B[31mred\u0007\b\b\b' },
];

/** Markdown that would make a link or an image of something that may not be one. */
const LINKS: readonly string[] = [
  `[m-plain](javascript:${RUN})`,
  `[m-case](JaVaScRiPt:${RUN})`,
  `[m-tab](java\tscript:${RUN})`,
  `[m-entity](&#106;avascript:${RUN})`,
  `[m-space](<  javascript:${RUN}>)`,
  `[m-control](\u0001javascript:${RUN})`,
  `[m-vbscript](vbscript:msgbox)`,
  `[m-data](data:text/html;base64,PHNjcmlwdD5wYXJlbnQuaG9zdGlsZT0xPC9zY3JpcHQ+)`,
  `[m-blob](blob:https://evil.example/1)`,
  `[m-file](file:///etc/passwd)`,
  `[m-title](https://evil.example "x\\" onmouseover=${RUN}")`,
  `![m-image](https://evil.example/image.png)`,
  `![m-image-script](javascript:${RUN})`,
  `![m-image-data](data:image/svg+xml,<svg onload=${RUN}>)`,
  '[![m-badge](https://evil.example/badge.png)](https://evil.example/badge)',
  `[![m-nested](https://evil.example/nested.png)](javascript:${RUN})`,
  `[m-reference][evil] and ![m-image-reference][evil-image]`,
  `<javascript:${RUN}> m-autolink <https://evil.example/auto> https://evil.example/bare www.evil.example`,
  `m-html <img src=x onerror="${RUN}"> <a href="javascript:${RUN}">x</a>`,
  `<div>\nm-html-block\n<script>${RUN}</script>\n<iframe src="https://evil.example/frame"></iframe>\n</div>`,
  '<!-- m-comment --><?m-processing ?><![CDATA[m-cdata]]>',
  `| m-table | b |\n|---|---|\n| [x](javascript:${RUN}) | ![](https://evil.example/cell.png) |`,
  `- m-list\n  > [x](javascript:${RUN})\n  1. ![](https://evil.example/item.png)`,
  `# m-heading [x](javascript:${RUN})`,
  `\`\`\`html onload=${RUN}\nm-code <script>${RUN}</script>\n\`\`\``,
];

const DEFINITIONS = `[evil]: javascript:${RUN}\n[evil-image]: https://evil.example/reference.png`;

/** All of them in one answer. A page may cut it between blocks, so the definitions are in one block with their uses. */
export const MARKDOWN = `${LINKS.join('\n\n')}\n\n${DEFINITIONS}\n[m-defined][evil] ![m-image-defined][evil-image]`;

export const markdownMarks: readonly string[] = [...new Set(MARKDOWN.match(/\bm-[a-z-]*[a-z]/g))];

/** Structures that cost a careless lexer more than a second. */
export const DEEP: readonly HostileText[] = [
  { mark: 'm-quotes', text: `${'>'.repeat(3000)} m-quotes` },
  { mark: 'm-brackets', text: `m-brackets ${'['.repeat(20_000)}` },
  { mark: 'm-stars', text: `m-stars ${'*a _b '.repeat(8000)}` },
  { mark: 'm-lists', text: Array.from({ length: 300 }, (_, level) => `${'  '.repeat(level)}- m-lists`).join('\n') },
  { mark: 'm-ticks', text: `m-ticks ${'`'.repeat(9999)} ${'`a'.repeat(9999)}` },
];

/** One line, as long as a message can be. */
export const LONG: HostileText = { mark: 'm-long', text: `m-long ${'x'.repeat(999_900)}` };
