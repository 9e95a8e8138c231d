import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const withoutCode = (text: string) => text.replace(/^( *)```[\s\S]*?^\1```$/gm, '').replace(/`[^`\n]*`/g, '`code`');

/** The anchors that GitHub gives to a page's headings. */
export function listAnchors(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = heading
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-');
    let anchor = slug;
    for (let n = 1; anchors.has(anchor); n += 1) anchor = `${slug}-${n}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** One sentence for each relative link whose file or anchor does not exist. `pages` is path → text. */
export function brokenLinks(pages: ReadonlyMap<string, string>, root: string): string[] {
  const broken: string[] = [];
  for (const [page, text] of pages) {
    for (const [, target = ''] of withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? page : normalize(join(dirname(page), path));
      if (!pages.has(file) && !existsSync(join(root, file))) broken.push(`${page}: ${target}: there is no ${file}`);
      else if (anchor !== undefined && !listAnchors(pages.get(file) ?? '').has(anchor)) {
        broken.push(`${page}: ${target}: ${file} has no heading #${anchor}`);
      }
    }
  }
  return broken;
}
