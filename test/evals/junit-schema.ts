import type { Page } from 'playwright-core';

/**
 * The rules of the JUnit schema of Jenkins (xunit-plugin, junit-10.xsd), as far as it has them for these elements. There is no
 * validator of XML Schema among the packages.
 */
const RULES: Readonly<
  Record<
    string,
    {
      readonly attributes: Readonly<Record<string, 'text' | 'number' | 'seconds'>>;
      readonly required: readonly string[];
      readonly children: readonly string[];
    }
  >
> = {
  testsuites: {
    attributes: {
      name: 'text',
      time: 'seconds',
      tests: 'number',
      failures: 'number',
      errors: 'number',
      disabled: 'number',
    },
    required: [],
    children: ['testsuite'],
  },
  testsuite: {
    attributes: {
      name: 'text',
      tests: 'number',
      failures: 'number',
      errors: 'number',
      time: 'seconds',
      skipped: 'number',
      timestamp: 'text',
      hostname: 'text',
      id: 'text',
      package: 'text',
      file: 'text',
      log: 'text',
      url: 'text',
      version: 'text',
    },
    required: ['name'],
    children: ['testcase', 'testsuite', 'properties', 'system-out', 'system-err'],
  },
  testcase: {
    attributes: { name: 'text', time: 'seconds', classname: 'text', group: 'text' },
    required: ['name'],
    children: [
      'skipped',
      'error',
      'failure',
      'rerunFailure',
      'rerunError',
      'flakyFailure',
      'flakyError',
      'system-out',
      'system-err',
    ],
  },
  failure: { attributes: { type: 'text', message: 'text' }, required: [], children: [] },
  error: { attributes: { type: 'text', message: 'text' }, required: [], children: [] },
};

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Element[];
}

const PARSE = `(xml) => {
  const document = new DOMParser().parseFromString(xml, 'application/xml');
  const visit = (element) => ({
    name: element.nodeName,
    attributes: Object.fromEntries([...element.attributes].map(({ name, value }) => [name, value])),
    children: [...element.children].map(visit),
  });
  return visit(document.documentElement);
}`;

/** Reads the report with the parser of a browser. Returns what the schema refuses. */
export async function junitProblems(page: Page, xml: string): Promise<readonly string[]> {
  const root = (await page.evaluate(`(${PARSE})(${JSON.stringify(xml)})`)) as Element;
  return root.name === 'testsuites' ? problemsIn(root) : [`The root is ${root.name}.`];
}

function problemsIn({ name, attributes, children }: Element): string[] {
  const rule = RULES[name];
  if (rule === undefined) return [`The schema has no element ${name}.`];
  const count = (child: string) => children.flatMap((one) => one.children).filter((one) => one.name === child).length;
  return [
    ...rule.required.filter((one) => attributes[one] === undefined).map((one) => `${name} has no ${one}.`),
    ...Object.entries(attributes).flatMap(([key, value]) => {
      const kind = rule.attributes[key];
      if (kind === undefined) return [`${name} may not have ${key}.`];
      const isRight = kind === 'text' || (kind === 'number' ? /^\d+$/ : /^\d+(\.\d{1,3})?$/).test(value);
      return isRight ? [] : [`${key} of ${name} is ${value}.`];
    }),
    ...children.filter((child) => !rule.children.includes(child.name)).map((child) => `${child.name} in ${name}`),
    ...(name === 'testsuite' ? countProblems(attributes, children) : []),
    ...(name === 'testsuites' && Number(attributes.tests) !== count('testcase')
      ? ['`tests` is not their number.']
      : []),
    ...children.flatMap(problemsIn),
  ];
}

function countProblems(attributes: Element['attributes'], cases: readonly Element[]): string[] {
  const having = (name: string) => cases.filter(({ children }) => children.some((child) => child.name === name)).length;
  const counted = { tests: cases.length, failures: having('failure'), errors: having('error') };
  return Object.entries(counted).flatMap(([name, number]) =>
    Number(attributes[name]) === number ? [] : [`${name} is ${attributes[name]}, not ${number}.`],
  );
}
