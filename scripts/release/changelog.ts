const UNRELEASED = '## Unreleased';

/** The lines of a section of second level: its heading, and the text below it. */
interface Section {
  readonly heading: string;
  readonly text: string;
}

function sections(changelog: string): Section[] {
  return changelog
    .split(/^(?=## )/m)
    .slice(1)
    .map((part) => {
      const [heading = '', ...lines] = part.split('\n');
      return { heading, text: lines.join('\n').trim() };
    });
}

/** The text of the section with this version and a date, such as `## 0.1.0 (2026-11-18)`. Undefined if there is none. */
export const datedSection = (changelog: string, version: string): string | undefined =>
  sections(changelog).find(({ heading }) =>
    new RegExp(`^## ${RegExp.escape(version)} \\(\\d{4}-\\d\\d-\\d\\d\\)$`).test(heading),
  )?.text;

/** The section's text with changes that are in no version yet. Undefined if there is no such section. */
export const unreleasedSection = (changelog: string): string | undefined =>
  sections(changelog).find(({ heading }) => heading === UNRELEASED)?.text;

/** Gives the unreleased changes a version and a date, and leaves an empty section for the next ones. */
export function cutSection(changelog: string, version: string, date: string): string {
  if (!unreleasedSection(changelog)) throw new Error('CHANGELOG.md has no changes below `## Unreleased`.');
  if (datedSection(changelog, version) !== undefined) throw new Error(`CHANGELOG.md already has a section ${version}.`);
  return changelog.replace(UNRELEASED, `${UNRELEASED}\n\n## ${version} (${date})`);
}
